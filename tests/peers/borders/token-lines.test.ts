// The lines that `parley serve` prints on terminals, and `parley status --lines` anywhere, have the token it asks for. Clients of the official SDKs get in with what stands there, and
// not without.
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, describe, expect, test } from 'vitest';
import { Home, WEATHER } from '../../helpers/parley.ts';
import { KINDS, connectSdk } from './helpers/sdk-clients.ts';

const home = new Home();
afterAll(() => home[Symbol.dispose]());

interface Entry {
  url: string;
  headers: Record<string, string>;
}

/** What Cursor, VS Code, Claude Code and Codex would read. */
function entriesIn(printed: string): Record<string, Entry> {
  const json = (key: string) => JSON.parse(new RegExp(`^ *(\\{"${key}".*"url".*\\})$`, 'm').exec(printed)![1]);
  const [, url, header, value] = /mcp add --transport http parley (\S+) --header "(\w+): (.*)"$/m.exec(printed)!;
  const [, codexUrl] = /^ *url = "(.*)"$/m.exec(printed)!;
  const [, codexHeader, codexValue] = /^ *http_headers = \{ "(\w+)" = "(.*)" \}$/m.exec(printed)!;
  return {
    Cursor: json('mcpServers').mcpServers.parley,
    'VS Code': json('servers').servers.parley,
    'Claude Code': { url, headers: { [header]: value } },
    Codex: { url: codexUrl, headers: { [codexHeader]: codexValue } },
  };
}

describe.each(KINDS)('%s', (kind) => {
  test('gets in with each of the printed lines, and not without the token', async () => {
    const config = home.write('parley.config.json', { mcpServers: { weather: WEATHER } });
    await using parley = home.start(['serve', config, '--port', '0']);
    await parley.says('http_headers');
    const entries = entriesIn((await home.run(['status', '--lines'])).stdout);
    for (const [client, { url, headers }] of Object.entries(entries)) {
      await using connected = await connectSdk(kind, url, { headers });
      expect([client, (await connected.client.listTools()).tools.length]).toEqual([client, 1]);
    }
    await expect(connectSdk(kind, entries['Cursor'].url)).rejects.toThrow(/401|nauthorized|token|log in/i);
  });
});

test('SDK v1 gets in over HTTP+SSE', async () => {
  const config = home.write('parley.config.json', { mcpServers: { weather: WEATHER } });
  await using parley = home.start(['serve', config, '--port', '0']);
  await parley.says('http_headers');
  const { url, headers } = entriesIn((await home.run(['status', '--lines'])).stdout)['Cursor'];
  const at = new URL(url.replace(/\/mcp$/, '/sse'));
  const client = new ClientV1({ name: 'borders', version: '1.0.0' }, { capabilities: {} });
  await client.connect(new SseV1(at, { requestInit: { headers } }));
  expect((await client.listTools()).tools).toHaveLength(1);
  await client.close();
});
