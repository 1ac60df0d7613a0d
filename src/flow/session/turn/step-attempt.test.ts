import { afterEach, expect, test } from 'vitest';
import { createGateway } from '../../../gateway/gateway.ts';
import type { Step } from '../../../kernel/step.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { createLog } from '../../../kernel/base/log.ts';
import type { ToolCaller, ToolCallerOption } from '../../authoring/step.ts';
import { flow } from '../../define.ts';
import { Sessions } from '../sessions.ts';
import { settled } from './turn.ts';

const log = createLog({ level: 'silent' });
const open: Sessions[] = [];
afterEach(async () => {
  for (const sessions of open.splice(0)) await sessions.close();
});

const weather = flow({ name: 'weather', description: 'Tells the weather' }, async (ask) => {
  const text = await ask.step('look', async ({ call }) => {
    const { structuredContent } = await call<{ degrees: number }>('look', { city: 'Oslo' });
    return `${structuredContent.degrees} degrees`;
  });
  return text;
});

async function play(tools: ToolCallerOption | undefined) {
  const sessions = new Sessions([weather], { log, tools });
  open.push(sessions);
  return settled(await sessions.start({ principal: 'ada', tool: 'weather', args: {}, via: 'flow' }));
}

function caller(result: Awaited<ReturnType<ToolCaller['callTool']>>, seen: unknown[] = []): ToolCaller {
  return {
    async callTool(...called) {
      seen.push(called);
      return result;
    },
  };
}

test('a step is given what the tool answers, and says in whose name it asks', async () => {
  const seen: [string, object, { signal: AbortSignal; principal: string }][] = [];
  const turn = await play(caller({ content: [], structuredContent: { degrees: 3 } }, seen));
  expect(turn.result).toBe('3 degrees');
  expect(seen).toEqual([
    [
      'look',
      { city: 'Oslo' },
      { signal: expect.any(AbortSignal), principal: expect.stringMatching(/^flow:[\w-]{22}$/) },
    ],
  ]);
  expect(JSON.stringify(seen)).not.toContain('ada');
});

test('a tool that fails fails its step, in its own words', async () => {
  const turn = await play(caller({ content: [{ type: 'text', text: 'It is dark' }], isError: true }));
  expect(turn.failure).toMatchObject({ message: 'It is dark' });
});

test('the error says what to do if no tool caller was given', async () => {
  const turn = await play(undefined);
  expect(turn.failure?.message).toContain('give serveFlows the gateway');
});

test('the tool of a gateway is called through its steps, under its public name; it cannot ask questions', async () => {
  const server = createServer({ name: 'sky', version: '1', log });
  server.tool('look', { output: { type: 'object' } }, () => ({ degrees: 7 }));
  server.tool('ask', {}, async (_args, { ask }) => JSON.stringify(await ask.elicit({ message: 'Where?', schema: {} })));
  const seen: unknown[] = [];
  const spy: Step = {
    name: 'spy',
    handle(exchange, next) {
      seen.push([exchange.method, exchange.params.name, exchange.client.principal.slice(0, 5)]);
      return next();
    },
  };
  const gateway = createGateway({ servers: { sky: server }, steps: [spy], log });
  const turn = await play(() => gateway);
  expect(turn.result).toBe('7 degrees');
  expect(seen).toContainEqual(['tools/call', 'look', 'flow:']);
  await expect(gateway.callTool('ask')).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' });
  await gateway.close();
  await server.close();
});
