// A URI with its server in front, the one form that leads to the same server however many there are. Made and taken apart without a table.
// `ui://app/page` of weather is `ui://weather/app/page`: hosts show these as part of a tool. Any other URI is escaped:
// `parley://weather/note%3A%2F%2Fx`.
const UI = 'ui://';
const SHARED = 'parley://';

export interface ServerUri {
  server: string;
  /** What the server itself calls it. */
  uri: string;
}

export function writeServerUri({ server, uri }: ServerUri): string {
  const name = encodeURIComponent(server);
  return uri.startsWith(UI) ? `${UI}${name}/${uri.slice(UI.length)}` : `${SHARED}${name}/${encoded(uri)}`;
}

/** Undefined for any other URI, and where `servers` do not have the one that it names. */
export function readServerUri(uri: string, servers: readonly string[]): ServerUri | undefined {
  const parts = partsOf(uri);
  const server = parts && servers.find((name) => encodeURIComponent(name) === parts.server);
  return server === undefined ? undefined : { server, uri: parts!.own };
}

/** The URI behind `parley://server/…`, whatever server that is. */
export function behindServerUri(uri: string): string | undefined {
  return uri.startsWith(SHARED) ? partsOf(uri)?.own : undefined;
}

/** Whether a server's own URI looks like one with a server in front. Then it is never public as it is. */
export function isReserved(uri: string): boolean {
  return uri.startsWith(UI) || uri.startsWith(SHARED);
}

function partsOf(uri: string): { server: string; own: string } | undefined {
  const scheme = [UI, SHARED].find((one) => uri.startsWith(one));
  if (scheme === undefined) return undefined;
  const end = uri.indexOf('/', scheme.length);
  if (end < 0) return undefined;
  const rest = uri.slice(end + 1);
  const own = scheme === UI ? UI + rest : decoded(rest);
  return own === undefined ? undefined : { server: uri.slice(scheme.length, end), own };
}

/** Half a character cannot be escaped. */
function encoded(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\uFFFD'));
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // not made here
  }
}
