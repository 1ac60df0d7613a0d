// Steps can change what clients learn when they connect.
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from '../../../src/_entries/index.ts';
import type { Step } from '../../../src/_entries/index.ts';

const log = createLog({ level: 'silent' });
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const house: Step = {
  name: 'house-rules',
  greeting: {
    info: (info) => ({ ...info, title: 'The house' }),
    instructions: (text) => `${text ?? ''} Be brief.`.trim(),
    capabilities: ({ prompts: _, ...kept }) => kept,
  },
};
const outer: Step = { name: 'outer', greeting: { instructions: (text) => `${text} Thank you.` } };

test('a step rewrites server info, instructions and capabilities, for both eras', async () => {
  const server = createServer({ name: 'inner', version: '1', instructions: 'Ask for notes.', log });
  server.tool('hello', {}, () => 'hello');
  server.prompt('hi', {}, () => 'hi');
  const gateway = createGateway({ servers: { inner: server }, steps: [outer, house], log });
  open.push(() => gateway.close());
  const url = new URL((await gateway.listen({ port: 0 })).url);
  const old = new ClientV1({ name: 'v1', version: '1' });
  await old.connect(new HttpV1(url));
  const modern = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await modern.connect(new HttpV2(url));
  open.push(() => Promise.all([old.close(), modern.close()]));
  for (const client of [old, modern]) {
    expect(client.getServerVersion()).toMatchObject({ name: 'inner', title: 'The house' });
    expect(client.getInstructions()).toBe('Ask for notes. Be brief. Thank you.');
    expect(client.getServerCapabilities()).toHaveProperty('tools');
    expect(client.getServerCapabilities()).not.toHaveProperty('prompts');
  }
});
