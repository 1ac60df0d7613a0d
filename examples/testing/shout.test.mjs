import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServer } from 'mcp-parley';
import { filter } from 'mcp-parley/middleware';
import { testGateway, testServer, testStep } from 'mcp-parley/testing';
import { shout } from './shout.mjs';

test('a step', async () => {
  const { client, reached, close } = await testStep(shout);
  const { content } = await client.callTool('echo', { text: 'hello' });
  await close();
  assert.equal(content[0].text, 'HELLO');
  assert.deepEqual(reached, [{ method: 'tools/call', params: { name: 'echo', arguments: { text: 'HELLO' } } }]);
});

test('a server, for a client that can be asked and for one that cannot', async () => {
  const shop = createServer({ name: 'shop', version: '1.0.0' });
  shop.tool('pay', {}, async (_, call) => (await call.ask.elicit({ message: 'Sure?', schema: {} })).action);

  const asked = await testServer(shop, { revision: '2025-06-18', onElicit: () => ({ action: 'accept', content: {} }) });
  assert.equal((await asked.client.callTool('pay')).content[0].text, 'accept');
  await asked.close();

  const mute = await testServer(shop, { revision: '2024-11-05' });
  assert.match((await mute.client.callTool('pay')).content[0].text, /waits for the user's answer/);
  await mute.close();
});

test('a gateway, for clients of every age', async () => {
  const files = createServer({ name: 'files', version: '1.0.0' });
  files.tool('read', {}, () => 'text');
  files.tool('delete', {}, () => 'gone');
  const { client, connect, close } = await testGateway({ servers: { files }, steps: [filter({ deny: ['delete'] })] });
  for (const one of [client, await connect({ revision: '2025-11-25' }), await connect({ revision: '2024-11-05' })]) {
    assert.deepEqual(
      (await one.listTools()).map(({ name }) => name),
      ['read'],
    );
    await assert.rejects(one.callTool('delete'));
  }
  await close();
});
