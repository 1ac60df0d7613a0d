// The frame of all pages: where one can go, who looks, and whether what is shown is live.
import { useEffect } from 'preact/hooks';
import { isLive, leave, now } from './api.tsx';
import { AccessPage } from './access-page.tsx';
import { CallsPage } from './calls-page.tsx';
import { FlowsPage } from './flows/flows-page.tsx';
import { NowPage } from './now-page.tsx';
import { SettingsPage } from './settings-page.tsx';
import { ToolsPage } from './tools-page.tsx';
import { route, toHref } from './route.tsx';

interface PageEntry {
  readonly name: string;
  readonly title: string;
  readonly isForOperator?: boolean;
  readonly show: () => preact.JSX.Element;
}

/** In the order of the navigation. */
const PAGES: readonly PageEntry[] = [
  { name: 'now', title: 'Now', show: NowPage },
  { name: 'calls', title: 'Calls', show: CallsPage },
  { name: 'tools', title: 'Tools', show: ToolsPage, isForOperator: true },
  { name: 'flows', title: 'Flows', show: FlowsPage },
  { name: 'access', title: 'Access', show: AccessPage, isForOperator: true },
  { name: 'settings', title: 'Settings', show: SettingsPage, isForOperator: true },
];

export function Shell() {
  const view = now.value!;
  const pages = PAGES.filter(({ isForOperator = false }) => view.viewer.isOperator || !isForOperator);
  const page = pages.find(({ name }) => name === route.value.page) ?? pages[0]!;
  const waiting = view.questions.filter(({ isTheirs }) => isTheirs).length;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${page.title} · ${view.gateway.name}`;
  }, [page, waiting, view.gateway.name]);
  useEffect(() => {
    addEventListener('keydown', goByKey);
    return () => removeEventListener('keydown', goByKey);
  }, []);
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header class="side">
        <p class="brand">Parley</p>
        <nav aria-label="Pages">
          {pages.map(({ name, title }, index) => (
            <a href={toHref(name)} aria-current={name === page.name ? 'page' : undefined} title={`Key ${index + 1}`}>
              {title}
              {name === 'now' && waiting > 0 && <span class="count"> {waiting} waiting</span>}
            </a>
          ))}
        </nav>
        <div class="viewer">
          <p role="status" class={isLive.value ? 'live' : 'live off'}>
            {isLive.value ? 'Live' : 'Not connected'}
          </p>
          <p class="soft">{view.viewer.isOperator ? 'Operator' : view.viewer.name}</p>
          <p class="soft">
            {view.gateway.name} {view.gateway.version}
          </p>
          <button class="quiet" onClick={() => void leave()}>
            {view.viewer.way === 'login' ? 'Log out' : 'Forget this browser'}
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <page.show />
      </main>
    </div>
  );
}

/** 1, 2, 3 … lead to the pages. */
function goByKey(event: KeyboardEvent): void {
  const isTyping = (event.target as HTMLElement).closest('input, textarea, select') !== null;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const page = PAGES[Number(event.key) - 1];
  if (page) location.hash = toHref(page.name);
}

function skip(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
