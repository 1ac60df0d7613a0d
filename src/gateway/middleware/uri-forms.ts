// A URI can be written in many ways that a server takes for the same: `file:///data/../etc`, `file:///%65tc`. A rule on URIs
// has to hold for all of them.
export function uriForms(uri: string): string[] {
  const decoded = decode(uri);
  return [...new Set([uri, normalise(uri), decoded, normalise(decoded)])];
}

/** Resolves dots, lowers scheme and host. */
function normalise(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).href : uri;
}

function decode(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri; // a stray percent sign: then nobody can decode it
  }
}
