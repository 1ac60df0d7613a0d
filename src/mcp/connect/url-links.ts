// The transports by which a server behind a URL is reached, each a row here, in the order to try them.
import type { UrlLink } from './url-link.ts';
import { webSocketUrls } from './websocket/url-link.ts';

const HTTP = ['http', 'https'];

const streamableHttp: UrlLink = {
  transport: 'streamable-http',
  label: 'HTTP',
  words: ['streamable-http', 'streamableHttp'],
  schemes: HTTP,
  open: async (options) => (await import('./links/streamable-http.ts')).createHttpLink(options),
};

const legacySse: UrlLink = {
  transport: 'http+sse',
  label: 'HTTP+SSE',
  words: ['sse', 'http+sse'],
  schemes: HTTP,
  open: async (options) => (await import('./links/legacy-sse.ts')).createSseLink(options),
};

export const URL_LINKS: readonly UrlLink[] = [
  streamableHttp, // what nearly all servers speak
  legacySse, // servers of 2024-11-05 have it at the same URL
  webSocketUrls, // has URLs of its own
];

const SCHEMES: readonly string[] = [...new Set(URL_LINKS.flatMap(({ schemes }) => schemes))];

/** With any scheme of these, in lower or upper case; not whether it is one. */
export function isServerUrl(text: string): boolean {
  return SCHEMES.some((scheme) => text.slice(0, scheme.length + 3).toLowerCase() === `${scheme}://`);
}

/** The transports of URLs with this scheme (`https:`), in the order to try them. */
export function linksOf(protocol: string): readonly UrlLink[] {
  return URL_LINKS.filter(({ schemes }) => schemes.some((scheme) => protocol.toLowerCase() === `${scheme}:`));
}

/** The transport of URLs with this scheme, if no other one has it. */
export function onlyLinkOf(protocol: string): UrlLink | undefined {
  const fitting = linksOf(protocol);
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** `http://, https://, ws:// or wss://`: all schemes, each followed by `end`. */
export function schemesWith(end: string): string {
  const named = SCHEMES.map((scheme) => scheme + end);
  return `${named.slice(0, -1).join(', ')} or ${named.at(-1)}`;
}
