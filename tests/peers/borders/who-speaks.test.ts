// Who is said to have failed, on the terminal: a step of the gateway, or the server behind it.
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT } from '../../helpers/files.ts';
import { Home } from '../../helpers/parley.ts';

const home = new Home();
afterAll(() => home[Symbol.dispose]());

const server = {
  command: process.execPath,
  args: [join(ROOT, 'tests', 'peers', 'borders', 'servers', 'named-v1.mjs')],
  env: { NAME: 'shop', TOOLS: 'buy' },
};

test('a step that throws is named, and not the server', async () => {
  home.write('boom.mjs', 'export default { name: "boom", methods: ["tools/call"], handle: () => nothing.here };');
  home.write('boom.json', { mcpServers: { shop: server }, steps: ['./boom.mjs'] });
  const { stderr, status } = await home.run(['call', 'buy', '--config', 'boom.json']);
  expect(stderr).toMatch(/^parley: Step boom of the gateway failed; its log says why/m);
  expect(stderr).toContain('nothing is not defined');
  expect(status).toBe(1);
});
