// Links that a client opens to add a server, as Cursor and VS Code document them.
interface LinkedEntry {
  name: string;
  url: string;
  token: string | undefined;
}

function toEntry({ url, token }: LinkedEntry): object {
  return { url, ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }) };
}

/** https://cursor.com/docs/mcp/install-links */
export function toCursorLink(linked: LinkedEntry): string {
  const config = Buffer.from(JSON.stringify(toEntry(linked))).toString('base64');
  const query = new URLSearchParams({ name: linked.name, config });
  return `cursor://anysphere.cursor-deeplink/mcp/install?${query.toString()}`;
}

/** https://code.visualstudio.com/api/extension-guides/ai/mcp#create-an-mcp-installation-url */
export function toCodeLink(linked: LinkedEntry): string {
  const entry = { name: linked.name, type: 'http', ...toEntry(linked) };
  return `vscode:mcp/install?${encodeURIComponent(JSON.stringify(entry))}`;
}
