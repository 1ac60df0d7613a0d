// Results of sessions behind a gateway, kept until their client has acknowledged them: of tools that the gateway calls itself, and of flows whose server
// keeps them.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { Gateway } from 'mcp-parley';
import { fixture, startHttp } from '../helpers/fixture-server.ts';
import type { HttpFixture } from '../helpers/fixture-server.ts';
import type { Json } from '../helpers/http-wire.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { modern } from '../helpers/mcp-http.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { until } from '../helpers/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-kept-'));
let server: HttpFixture;
let gateway: Gateway;
let port: number;

beforeAll(async () => {
  server = await startHttp(fixture('keeps-results', [JSON.stringify({ sqlite: { path: join(folder, 'flows.db') } })]));
  const desk = createServer({ name: 'desk', version: '1' });
  desk.tool('reserve', {}, async (_, call) => {
    const { content } = await call.ask.elicit({ message: 'Where to?', schema: { city: { type: 'string' } } });
    return { structuredContent: { city: content?.['city'] }, content: [] };
  });
  gateway = createGateway({
    servers: { flows: { url: server.url, headers: { 'x-user': 'the gateway' } }, desk },
    identify: ({ headers }) => headers['x-user'] as string,
    log: createLog({ level: 'silent' }),
    startMs: 60_000,
  });
  port = Number(new URL((await gateway.listen({ port: 0 })).url).port);
});
afterAll(async () => {
  await gateway.close();
  await server.stop();
  removeFolder(folder);
});

async function client(user = 'ada') {
  const { wire, socket } = await socketWire(port, { 'x-user': user });
  await wire.initialize();
  const told = (method: string, count = 1) =>
    until(method, () => {
      const said = wire.messages.filter((message) => message.method === method);
      return said.length >= count ? said.at(-1) : undefined;
    });
  const state = async (sessionId: unknown) => wire.request('interaction.getState', { sessionId });
  return { wire, socket, told, state };
}

const promptOf = ({ initialPrompt }: Json) => (initialPrompt as Json | undefined)?.promptId;

describe.each([
  ['a tool that the gateway calls', 'desk__reserve'],
  ['a flow whose server keeps it', 'flows__order'],
])('the result of %s', (_, toolName) => {
  const kept = { state: 'completed', result: { success: true, data: { city: 'Oslo' } } };

  async function ended() {
    const ada = await client();
    const { result } = await ada.wire.request('interaction.start', { toolName });
    const { sessionId } = result!;
    const prompt =
      promptOf(result!) ?? (((await ada.told('interaction.prompt')).params as Json).prompt as Json).promptId;
    const answer = { sessionId, promptId: prompt, response: { value: 'Oslo' } };
    await ada.wire.request('interaction.respond', answer);
    await ada.told('interaction.complete'); // and it does not answer that
    ada.socket.close();
    return { sessionId, answer };
  }

  test('is there only for the same user, also in another session, until it is acknowledged', async () => {
    const { sessionId, answer } = await ended();
    const again = await client();
    expect((await again.state(sessionId)).result).toMatchObject(kept);
    expect((await (await client('eve')).state(sessionId)).error?.code).toBe(-32001);
    expect((await again.wire.request('interaction.respond', answer)).result).toMatchObject({ accepted: true });
    const told = await again.told('interaction.complete');
    expect(told.params).toMatchObject({ sessionId, result: kept.result });
    again.wire.write({ jsonrpc: '2.0', id: told.id, result: { success: true, finalResult: {} } });
    await until('it is forgotten', async () => !('result' in (await again.state(sessionId)).result!));
    expect((await again.state(sessionId)).result).toMatchObject({ state: 'completed' });
    expect((await again.wire.request('interaction.respond', answer)).error?.code).toBe(-32003);
  });

  test('stays for a client of 2026-07-28, which cannot acknowledge it', async () => {
    const { wire, socket } = await socketWire(port, { 'x-user': 'bob' });
    const request = async (method: string, params: Json) => {
      const { body } = modern(method, params);
      wire.write(body);
      return (await wire.answerTo(body.id)).result!;
    };
    const started = await request('interaction.start', { toolName });
    const { sessionId } = started;
    const promptId = promptOf(started) ?? ((started.next as Json).prompt as Json).promptId;
    const answered = await request('interaction.respond', { sessionId, promptId, response: { value: 'Oslo' } });
    expect(answered.next).toMatchObject({ method: 'interaction.complete', result: kept.result });
    expect(await request('interaction.getState', { sessionId })).toMatchObject(kept);
    socket.close();
  });

  test('is of one session, though its start was sent twice', async () => {
    const params = { toolName, _meta: { 'mcp-parley/start-id': `6f0d4a5e-start-id-${toolName}` } };
    const [ada, again, eve] = [await client(), await client(), await client('eve')];
    const { sessionId } = (await ada.wire.request('interaction.start', params)).result!;
    if (toolName === 'desk__reserve') await ada.told('interaction.prompt');
    const second = (await again.wire.request('interaction.start', params)).result!;
    expect(promptOf(second)).toMatch(/^city~1$/);
    const answer = { sessionId: second.sessionId, promptId: promptOf(second), response: { value: 'Oslo' } };
    expect((await again.wire.request('interaction.respond', answer)).result).toMatchObject({ accepted: true });
    await again.told('interaction.complete');
    expect((await ada.state(sessionId)).result).toMatchObject({ state: 'completed' });
    const theirs = (await eve.wire.request('interaction.start', params)).result!;
    expect((await eve.state(theirs.sessionId)).result).not.toMatchObject({ state: 'completed' });
    const other = await ada.wire.request('interaction.start', { ...params, initialParams: { city: 'Rome' } });
    expect(other.error?.code).toBe(-32602);
  });
});

test('a session of the gateway that expires is told to its client', async () => {
  const { wire, told } = await client();
  const { result } = await wire.request('interaction.start', { toolName: 'desk__reserve', timeout: 100 });
  const ended = await told('interaction.ended');
  expect(ended.params).toMatchObject({
    sessionId: result!.sessionId,
    result: { success: false, error: { name: 'FLOW_SESSION_EXPIRED' } },
  });
});
