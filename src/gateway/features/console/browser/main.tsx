// The console in a browser. Texts of servers and clients are only ever text nodes: nothing here makes HTML.
import { render } from 'preact';
import { access, begin, redeem } from './api.tsx';
import { Shell } from './shell.tsx';
import { WayIn, codeProblem } from './way-in.tsx';

function Console() {
  if (access.value === 'unknown')
    return (
      <p class="loading" role="status">
        Loading …
      </p>
    );
  return access.value === 'in' ? <Shell /> : <WayIn />;
}

/** The code in the link of `parley open`. */
function codeInLink(): string | undefined {
  return /^#code=([\w-]+)$/.exec(location.hash)?.[1];
}

async function start(): Promise<void> {
  const code = codeInLink();
  if (code === undefined) return begin();
  history.replaceState(null, '', location.pathname); // a code that was used is nothing to keep
  const problem = await redeem(code);
  if (problem === undefined) return;
  codeProblem.value = problem;
  await begin();
}

render(<Console />, document.getElementById('console')!);
void start();
// The link may be opened in a tab that shows this page already.
addEventListener('hashchange', () => {
  if (codeInLink() !== undefined) void start();
});
