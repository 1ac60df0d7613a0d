// Advice for the most common mistake in URLs: the missing path.

/** Undefined if the path is not the reason. */
export function hintForPath(reason: string, url: string): string | undefined {
  if (!/HTTP 404/.test(reason) || !URL.canParse(url)) return undefined;
  const { pathname, origin } = new URL(url);
  if (/\/(mcp|sse)\b/.test(pathname)) return undefined;
  return `Most servers answer at /mcp: try ${origin}${pathname.replace(/\/$/, '')}/mcp.`;
}
