// A URL without the path at which servers answer is the mistake that people make most with one.

/** What to try where the URL has no such path; undefined where the reason is another one. */
export function hintForPath(reason: string, url: string): string | undefined {
  if (!/HTTP 404/.test(reason) || !URL.canParse(url)) return undefined;
  const { pathname, origin } = new URL(url);
  if (/\/(mcp|sse)\b/.test(pathname)) return undefined;
  return `Most servers answer at /mcp: try ${origin}${pathname.replace(/\/$/, '')}/mcp.`;
}
