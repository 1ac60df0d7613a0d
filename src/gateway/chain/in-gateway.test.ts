// The steps where they belong: between a client of each era and servers behind a router.
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { connect } from '../../sdk/client/connect.ts';
import type { Step, StepFunction } from '../../kernel/step.ts';
import { createServer } from '../../sdk/server/create-server.ts';
import type { ProtocolError } from '../../kernel/base/errors.ts';
import { createLog } from '../../kernel/base/log.ts';
import { createGateway } from '../gateway.ts';
import { circuitBreaker } from '../features/circuit-breaker/circuit-breaker.ts';
import { filter } from '../features/filter/filter.ts';
import { fixed } from '../features/arguments/tool-arguments.ts';
import { prefix, rename } from '../features/names/rename.ts';
import { redact } from '../features/redact/redact.ts';
import { timeout } from '../features/timeout/timeout.ts';

const input = {
  type: 'object',
  properties: { city: { type: 'string' }, key: { type: 'string' } },
  required: ['city', 'key'],
};

async function through(steps: (Step | StepFunction)[], revision: string) {
  const lines: string[] = [];
  const log = createLog({ level: 'error', write: (line) => lines.push(line) });
  const stopped: string[] = [];
  const one = createServer({ name: 'one', version: '1', log });
  one.tool('weather', { input }, ({ city, key }) => `${String(city)} with ${String(key)}`);
  one.tool('drop', {}, () => 'dropped');
  one.tool('slow', {}, async (_, call) => {
    call.progress(1, 2, 'using s3cret');
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
    stopped.push('slow');
    return 'late';
  });
  const two = createServer({ name: 'two', version: '1', log });
  two.tool('weather', {}, () => 'of two');
  const gateway = createGateway({ servers: { one, two }, steps, log, ask: { channels: [] } });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await gateway.connect(theirs);
  const client = await connect(ours, { revision, log });
  return { client, gateway, lines, stopped };
}

const text = (result: { content: { type: string; text?: string }[] }) => result.content[0]?.text;

describe.each(['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28'])('for a client of %s', (revision) => {
  it('names stay consistent through several steps and the router', async () => {
    const steps = [prefix('acme_'), rename({ tools: { two__weather: 'forecast' } }), filter({ deny: ['drop'] })];
    const { client, gateway } = await through(steps, revision);
    expect(text(await client.callTool('acme_forecast'))).toBe('of two');
    expect((await client.listTools()).map(({ name }) => name)).toEqual([
      'acme_one__weather',
      'acme_one__slow',
      'acme_forecast',
    ]);
    for (const name of ['acme_one__drop', 'one__drop', 'drop', 'forecast', 'two__weather']) {
      await expect(client.callTool(name), name).rejects.toMatchObject({ message: `Unknown tool: ${name}` });
    }
    await gateway.close();
  });

  it('fixed arguments are not offered, and reach the server', async () => {
    const { client, gateway } = await through([fixed({ weather: { key: 'k1' } })], revision);
    const [tool] = await client.listTools();
    expect(tool!.inputSchema).toEqual({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] });
    expect(text(await client.callTool('one__weather', { city: 'Oslo', key: 'mine' }))).toBe('Oslo with k1');
    await gateway.close();
  });

  it('a timeout stops the tool, and what it has said meanwhile is redacted', async () => {
    const { client, gateway, stopped } = await through(
      [redact({ patterns: ['s3cret'] }), timeout({ ms: 50 })],
      revision,
    );
    const heard: unknown[] = [];
    const onProgress = ({ message }: { message?: string | undefined }) => void heard.push(message);
    await expect(client.callTool('one__slow', {}, { onProgress })).rejects.toMatchObject({
      message: expect.stringContaining('one did not answer tools/call within 50 ms'),
    });
    expect(stopped).toEqual(['slow']);
    // The oldest revision has no words for what goes on beside the numbers.
    expect(heard).toEqual([revision === '2024-11-05' ? undefined : 'using [redacted]']);
    await gateway.close();
  });

  it('a step that fails is named to the client with an id, and its error is in the log alone, under that id', async () => {
    const failing: StepFunction = function careless(exchange, next) {
      if (exchange.method === 'tools/call') throw new Error('at line 7');
      return next();
    };
    const { client, gateway, lines } = await through([failing], revision);
    const error = await client.callTool('weather').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: -32603,
      message: 'Internal error',
      data: { step: 'careless', exchange: expect.any(String) },
    });
    expect(JSON.stringify(error) + String(error)).not.toContain('line 7');
    const { exchange: id } = (error as ProtocolError).data as { exchange: string };
    expect(lines.find((line) => line.includes('at line 7'))).toContain(`"exchange":"${id}"`);
    expect(lines.find((line) => line.includes('at line 7'))).toContain('"step":"careless"');
    await gateway.close();
  });

  it('a circuit knows the server of a tool', async () => {
    const { client, gateway } = await through([circuitBreaker({ failures: 2 }), timeout({ ms: 20 })], revision);
    for (let time = 0; time < 2; time++) await client.callTool('one__slow').catch(() => {});
    await expect(client.callTool('one__slow')).rejects.toMatchObject({
      message: expect.stringMatching(/^one is too busy: it failed 2 times in a row/),
    });
    expect(text(await client.callTool('two__weather'))).toBe('of two');
    await gateway.close();
  });
});
