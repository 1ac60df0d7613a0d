// A second click reaches the server before its client has acknowledged the next question, and is handled after it. It is judged by what the
// client had acknowledged when it arrived.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { ROOT } from '../helpers/files.ts';
import type { Json } from '../helpers/http-wire.ts';
import { stdioWire } from '../helpers/line-wire.ts';
import { openSession, rpc } from '../helpers/mcp-http.ts';
import { until } from '../helpers/until.ts';

const SERVER = [process.execPath, join(ROOT, 'tests', 'fixtures', 'servers', 'double-click.mjs')];
const PARLEY = [process.execPath, join(ROOT, 'dist', 'cli', 'main.js'), 'wrap', '--no-audit', '--'];
const NEXT = 'Send it to all 40,000?';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const COMMANDS: Record<string, string[]> = { 'a server': SERVER, 'parley wrap': [...PARLEY, ...SERVER] };

describe.each(Object.keys(COMMANDS))('on stdio, at %s', (where) => {
  test.each(['human', 'plain'])('a second click does not answer the next question, which is %s', async (tool) => {
    const [command, ...args] = COMMANDS[where]!;
    const child: ChildProcess = spawn(command!, args, { cwd: ROOT, stdio: ['pipe', 'pipe', 'ignore'] });
    closing.push(() => child.kill());
    const wire = stdioWire(child);
    await wire.initialize();
    const { result } = await wire.request('interaction.start', { toolName: tool });
    const { sessionId } = result as { sessionId: string };
    const respond = () => rpc('interaction.respond', { sessionId, response: { value: true } });
    const first = respond();
    wire.write(first);
    expect((await wire.answerTo(first.id)).result).toMatchObject({ accepted: true });
    const prompt = await wire.find('the next prompt', ({ params }) => JSON.stringify(params ?? {}).includes(NEXT));
    const acknowledged = { jsonrpc: '2.0', id: prompt.id, result: { acknowledged: true } };
    const second = respond();
    // Both are read at once: the click, which was on its way, and the acknowledgement behind it.
    wire.write(`${JSON.stringify(second)}\n${JSON.stringify(acknowledged)}`);
    await wire.answerTo(second.id);
    const state = (await wire.request('interaction.getState', { sessionId })).result;
    expect(state).toMatchObject({ state: 'waiting_user', currentPrompt: { message: NEXT } });
    const own = respond();
    wire.write(own);
    expect((await wire.answerTo(own.id)).result).toMatchObject({ accepted: true });
    await wire.find('the end', ({ method }) => method === 'interaction.complete');
  });

  test('an acknowledgement and the answer behind it may come in one piece', async () => {
    const [command, ...args] = COMMANDS[where]!;
    const child: ChildProcess = spawn(command!, args, { cwd: ROOT, stdio: ['pipe', 'pipe', 'ignore'] });
    closing.push(() => child.kill());
    const wire = stdioWire(child);
    await wire.initialize();
    const { result } = await wire.request('interaction.start', { toolName: 'human' });
    const { sessionId } = result as { sessionId: string };
    const respond = () => rpc('interaction.respond', { sessionId, response: { value: true } });
    wire.write(respond());
    const prompt = await wire.find('the next prompt', ({ params }) => JSON.stringify(params ?? {}).includes(NEXT));
    const own = respond();
    wire.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: prompt.id, result: { acknowledged: true } })}\n${JSON.stringify(own)}`,
    );
    expect((await wire.answerTo(own.id)).result).toMatchObject({ accepted: true });
  });
});

describe.each(['a server', 'a gateway'])('over HTTP, at %s', (where) => {
  test('a click that waits for a slow login does not answer the question that its client was sent meanwhile', async () => {
    let letGo!: () => void;
    let arrived = false;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const log = createLog({ level: 'silent' });
    const identify = async ({ headers }: { headers: Record<string, unknown> }) => {
      if (headers['x-slow'] !== undefined) {
        arrived = true;
        await held;
      }
      return headers['x-user'] as string | undefined;
    };
    const server = createServer({ name: 'mail', version: '1', log, identify });
    const mail = flow({ name: 'mail' }, async (ask) => {
      await ask.confirm('draft', { alone: true });
      return ask.confirm('send', { message: NEXT, alone: true, by: 'human' });
    });
    serveFlows(server, [mail]);
    const front =
      where === 'a server'
        ? server
        : createGateway({ servers: { mail: server }, log, identify, ask: { trust: 'all' } });
    const { url } = await front.listen({ port: 0 });
    closing.push(() => front.close());
    const session = await openSession(url, { headers: { 'x-user': 'ada' } });
    const stream = await session.stream();
    closing.push(() => stream.close());
    const { sessionId } = (await session.request('interaction.start', { toolName: 'mail' })).json.result as Json;
    const click = { sessionId, response: { value: true } };
    const second = session.post(rpc('interaction.respond', click), { 'x-slow': '1' });
    await until('the click to arrive', () => arrived);
    expect((await session.request('interaction.respond', click)).json.result).toMatchObject({ accepted: true });
    const isNext = (one: unknown) => JSON.stringify(one).includes(NEXT);
    await stream.until('the prompt', ({ messages }) => messages.some(isNext));
    const { id } = stream.messages.find(isNext) as Json;
    await session.post({ jsonrpc: '2.0', id, result: { acknowledged: true } });
    letGo();
    await second;
    const { result } = (await session.request('interaction.getState', { sessionId })).json;
    expect(result).toMatchObject({ state: 'waiting_user', currentPrompt: { message: NEXT } });
  });
});
