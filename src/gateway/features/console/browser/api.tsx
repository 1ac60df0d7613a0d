// How this page talks with its gateway. A browser that was paired has a key, which names the path of its cookie; it is kept for this origin alone, so that
// no other port of this machine learns it. People who are logged in need none.
import { signal } from '@preact/signals';
import type { CallsView, NowView, WayInView } from '../views.ts';

const KEY = 'parley-console';
const LOGGED_IN = 'me';
const at = (path: string): string => new URL(`console/${path}`, document.baseURI.split('#')[0]).href;

/** `in` once the gateway lets this browser look. */
export const access = signal<'unknown' | 'in' | 'out'>('unknown');
export const wayIn = signal<WayInView | undefined>(undefined);
export const now = signal<NowView | undefined>(undefined);
/** Whether what is shown is what is the case. */
export const isLive = signal(false);

/** Calls back with each part of the calls that is different. */
export function onCalls(callback: (calls: CallsView) => void): void {
  takeCalls = callback;
}

let takeCalls: (calls: CallsView) => void = () => {};
let key = localStorage.getItem(KEY);

export function enterUrl(): string {
  return at('enter');
}

export async function read<T>(name: string): Promise<T> {
  const response = await fetch(urlOf(name));
  if (response.status === 401) await lock();
  if (!response.ok) throw new Error(await reasonOf(response));
  return (await response.json()) as T;
}

/** Undefined if it was done; else why not. `about`: what is acted on, which another gateway than this one may have. */
export async function act(
  name: string,
  fields: Record<string, string> | URLSearchParams,
  about = '',
): Promise<string | undefined> {
  const query = about === '' ? '' : `?t=${encodeURIComponent(about)}`;
  try {
    const response = await fetch(urlOf(name) + query, { method: 'POST', body: new URLSearchParams(fields) });
    return response.ok ? undefined : await reasonOf(response);
  } catch {
    return 'The gateway does not answer.';
  }
}

/** What the gateway says to it; a problem, where it was not done. */
export async function askFor<T>(name: string, fields: Record<string, string>): Promise<T | { problem: string }> {
  try {
    const response = await fetch(urlOf(name), { method: 'POST', body: new URLSearchParams(fields) });
    return response.ok ? ((await response.json()) as T) : { problem: await reasonOf(response) };
  } catch {
    return { problem: 'The gateway does not answer.' };
  }
}

/** Lets this browser in. Undefined if that worked; else why not. */
export async function redeem(code: string): Promise<string | undefined> {
  const response = await fetch(at('enter'), { method: 'POST', body: new URLSearchParams({ code }) });
  if (!response.ok) {
    const wait = response.status === 429 ? ' Wait a minute before the next one.' : '';
    return `This code does not work here. It works once, for ten minutes.${wait}`;
  }
  key = ((await response.json()) as { key: string }).key;
  localStorage.setItem(KEY, key);
  await begin();
  return undefined;
}

export async function leave(): Promise<void> {
  if (now.value?.viewer.way === 'login')
    await fetch(at('enter'), { method: 'POST', body: new URLSearchParams({ do: 'logout' }) });
  localStorage.removeItem(KEY);
  location.reload();
}

let stream: EventSource | undefined;

/** Shows what is the case, and follows it. */
export async function begin(): Promise<void> {
  try {
    if (key === null) {
      const way = (wayIn.value = (await (await fetch(at('enter'))).json()) as WayInView);
      if (!way.isLoggedIn) return void (access.value = 'out');
    }
    now.value = await read<NowView>('now');
    access.value = 'in';
    follow();
  } catch {
    if (access.value === 'unknown') access.value = 'out';
  }
}

function follow(): void {
  stream?.close();
  stream = new EventSource(urlOf('events'));
  stream.addEventListener('open', () => (isLive.value = true));
  stream.addEventListener('now', ({ data }) => (now.value = JSON.parse(String(data)) as NowView));
  stream.addEventListener('calls', ({ data }) => takeCalls(JSON.parse(String(data)) as CallsView));
  stream.addEventListener('error', () => {
    isLive.value = false;
    // A browser tries again by itself, except after an answer that is no stream.
    if (stream?.readyState === EventSource.CLOSED) setTimeout(() => void begin(), 2000);
  });
}

function urlOf(name: string): string {
  return at(`api/${key ?? LOGGED_IN}/${name}`);
}

/** The way in, where nobody is let in any more. */
async function lock(): Promise<void> {
  stream?.close();
  if (key !== null) localStorage.removeItem(KEY);
  key = null;
  wayIn.value = (await (await fetch(at('enter'))).json()) as WayInView;
  access.value = 'out';
}

async function reasonOf(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error: string | { message: string } };
    return typeof error === 'string' ? error : error.message;
  } catch {
    return `The gateway answered ${response.status}.`;
  }
}
