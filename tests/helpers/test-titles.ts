// Whether a test that a page of docs names is in its file.

/** A title may have been made from a pattern, such as "%s on tools/call refuses …". */
export function isTitle(source: string, title: string): boolean {
  if (source.includes(title)) return true;
  const patterns = [...source.matchAll(/\('((?:[^'\\]|\\.)*%s(?:[^'\\]|\\.)*)'/g)].map(([, pattern]) => pattern!);
  return patterns.some((pattern) => new RegExp(`^${pattern.split('%s').map(escaped).join('.*')}$`).test(title));
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}
