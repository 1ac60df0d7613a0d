// Which page is shown, and its filters: both stand in the URL, so that a link or a reload shows the same.
import { signal } from '@preact/signals';

export interface Route {
  readonly page: string;
  readonly query: URLSearchParams;
}

export const route = signal<Route>(readRoute());
addEventListener('hashchange', () => (route.value = readRoute()));

export function toHref(page: string, query: Record<string, string> = {}): string {
  const filled = Object.entries(query).filter(([, value]) => value !== '');
  const search = filled.length > 0 ? `?${new URLSearchParams(filled)}` : '';
  return `#/${page}${search}`;
}

/** Without a new entry in the history: a filter is changed with every letter. */
export function setQuery(query: Record<string, string>): void {
  const all = { ...Object.fromEntries(route.value.query), ...query };
  history.replaceState(null, '', toHref(route.value.page, all));
  route.value = readRoute();
}

function readRoute(): Route {
  const [page = '', search = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  return { page: page === '' ? 'now' : page, query: new URLSearchParams(search) };
}
