// Encodes the server's name into a URI, so that it leads to the same server however many there are; no table is needed.
// `ui://app/page` of weather becomes `ui://weather/app/page`, because hosts show these as part of a tool, and `skill://pdf/SKILL.md` becomes
// `skill://weather/pdf/SKILL.md`, because files of a skill are found by paths beside it. Any other URI is escaped:
// `parley://weather/note%3A%2F%2Fx`.
const UI = 'ui://';
const SKILL = 'skill://';
const SHARED = 'parley://';
/** Schemes whose paths keep their form. */
const OPEN = [UI, SKILL];

export interface ServerUri {
  server: string;
  /** The URI on the server. */
  uri: string;
}

export function writeServerUri({ server, uri }: ServerUri): string {
  const name = encodeURIComponent(server);
  const scheme = OPEN.find((one) => uri.startsWith(one));
  return scheme === undefined ? `${SHARED}${name}/${encoded(uri)}` : `${scheme}${name}/${uri.slice(scheme.length)}`;
}

/** Undefined for any other URI, and for unknown servers. */
export function readServerUri(uri: string, servers: readonly string[]): ServerUri | undefined {
  const parts = partsOf(uri);
  const server = parts && servers.find((name) => encodeURIComponent(name) === parts.server);
  return server === undefined ? undefined : { server, uri: parts!.own };
}

/** The URI inside `parley://server/…`, for any server. */
export function behindServerUri(uri: string): string | undefined {
  return uri.startsWith(SHARED) ? partsOf(uri)?.own : undefined;
}

/** Whether a server's own URI looks like an encoded one; then it is never public as it is. */
export function isReserved(uri: string): boolean {
  return uri.startsWith(SHARED) || OPEN.some((scheme) => uri.startsWith(scheme));
}

function partsOf(uri: string): { server: string; own: string } | undefined {
  const scheme = [...OPEN, SHARED].find((one) => uri.startsWith(one));
  if (scheme === undefined) return undefined;
  const end = uri.indexOf('/', scheme.length);
  if (end < 0) return undefined;
  const rest = uri.slice(end + 1);
  const own = scheme === SHARED ? decoded(rest) : scheme + rest;
  return own === undefined ? undefined : { server: uri.slice(scheme.length, end), own };
}

/** Lone surrogates cannot be escaped. */
function encoded(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\uFFFD'));
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // not one of ours
  }
}
