// A call that meets a login: `parley wrap` sends a person to the login page in the middle of the call, and then sends the call again. The server
// compares both requests, and a program that stands for the browser decides when the login is done.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chmodSync, existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Json } from '../helpers/http-wire.ts';
import { stdioWire } from '../helpers/line-wire.ts';
import { startOidcServer } from '../helpers/oidc-server.ts';
import type { OidcServer } from '../helpers/oidc-server.ts';
import { homesOfTests } from '../helpers/parley.ts';
import { RecordingServer, withoutId } from '../helpers/recording-server.ts';
import { until } from '../helpers/until.ts';

const { newHome, start } = homesOfTests();

const ERAS = ['handshake', 'stateless'] as const;
const META = { 'com.example/order': 7, progressToken: 'mine' };
const CALLS: [string, Json][] = [
  ['tools/call', { name: 'pay', arguments: { amount: 12, to: ['ann', 'bob'] }, _meta: META }],
  ['prompts/get', { name: 'letter', arguments: { to: 'ann' }, _meta: META }],
  ['resources/read', { uri: 'file:///secret', _meta: META }],
];
const REFUSALS: [string, (server: OidcServer) => unknown][] = [
  ['403 with more scopes', (server) => (server.needs = 'mcp mcp:admin')],
  ['401 with a dead refresh token', (server) => server.revokeAll()],
];

/** A wrapped server whose login page the test opens itself. */
async function wrapped(server: OidcServer) {
  const home = newHome();
  const path = home.write('browser.mjs', `#!/usr/bin/env node\nimport { appendFileSync } from 'node:fs';\n`);
  const links = join(home.path, 'links.txt');
  home.write(
    'browser.mjs',
    `${readFileSync(path, 'utf8')}appendFileSync(${JSON.stringify(links)}, process.argv[2] + '\\n');\n`,
  );
  chmodSync(path, 0o755);
  const parley = start(home, ['wrap', server.url], { BROWSER: path });
  const wire = stdioWire(parley.child);
  const link = (nth: number): Promise<string> =>
    until(`login page ${nth}`, () => (existsSync(links) ? readFileSync(links, 'utf8').split('\n')[nth - 1] : ''));
  const opened = wire.initialize();
  await server.visit(await link(1));
  await opened;
  return { wire, link };
}

for (const era of ERAS) {
  for (const [why, refuse] of REFUSALS) {
    test.each(CALLS)(
      `%s is sent whole after a login in the middle of it: ${era} server, ${why}`,
      async (method, params) => {
        await using mcp = new RecordingServer(era);
        await using server = await startOidcServer({ serve: mcp.handle });
        const { wire, link } = await wrapped(server);
        // The same call before, as the one that needs no login.
        await wire.request(method, params);
        await refuse(server);
        const answer = wire.request(method, params);
        const [, refused] = await mcp.got(method, 2);
        await server.visit(await link(2));
        expect((await answer).error).toBeUndefined();
        const [first, , again, ...more] = mcp.of(method);
        expect(more).toEqual([]);
        expect(refused!.status).toBeGreaterThan(400);
        expect(withoutId(again!)).toBe(withoutId(refused!));
        expect(withoutId(again!)).toBe(withoutId(first!));
        expect(again!.message.params).toMatchObject({ ...params, _meta: { 'com.example/order': 7 } });
        expect(again!.message.id).not.toBe(refused!.message.id);
      },
    );
  }

  test(`a call that is cancelled while the login page is open is never sent: ${era} server`, async () => {
    await using mcp = new RecordingServer(era);
    await using server = await startOidcServer({ serve: mcp.handle });
    const { wire, link } = await wrapped(server);
    server.needs = 'mcp mcp:admin';
    const [, params] = CALLS[0]!;
    wire.write({ jsonrpc: '2.0', id: 'destroy', method: 'tools/call', params });
    const page = await link(2);
    wire.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'destroy', reason: 'no!' } });
    // A later call waits for the same login, so the first has had its chance when this one is answered.
    const next = wire.request('resources/read', { uri: 'file:///later' });
    await mcp.got('resources/read', 1);
    await server.visit(page);
    expect((await next).error).toBeUndefined();
    expect(mcp.of('tools/call')).toHaveLength(1);
  });

  test(`progress and log messages of the repeat reach the client after a login: ${era} server`, async () => {
    await using mcp = new RecordingServer(era);
    await using server = await startOidcServer({ serve: mcp.handle });
    const { wire, link } = await wrapped(server);
    server.needs = 'mcp mcp:admin';
    mcp.answer = ({ message }, response) => {
      if (message.method !== 'tools/call') return undefined;
      const { progressToken } = (message.params as { _meta?: Json } | undefined)?._meta ?? {};
      const say = (said: Json): unknown => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...said })}\n\n`);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      say({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
      say({ method: 'notifications/message', params: { level: 'info', data: 'paying' } });
      say({ id: message.id, result: { content: [{ type: 'text', text: 'paid' }] } });
      return void response.end();
    };
    const [, params] = CALLS[0]!;
    const answer = wire.request('tools/call', params);
    await server.visit(await link(2));
    expect((await answer).result).toMatchObject({ content: [{ text: 'paid' }] });
    const told = wire.messages
      .filter((message) => 'method' in message)
      .map(({ method, params: said }) => ({ method, said }));
    expect(told).toContainEqual({
      method: 'notifications/progress',
      said: { progressToken: 'mine', progress: 1, total: 2 },
    });
    expect(told).toContainEqual({ method: 'notifications/message', said: { level: 'info', data: 'paying' } });
  });
}
