// Tries to deliver an event are counted for each session, whatever is sent: somebody who has a URL cannot keep the server at work with it.
import { afterEach, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { manualClock } from '../../src/flow/testing/manual-clock.ts';
import { until } from '../helpers/until.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function waiting() {
  const urls: string[] = [];
  const bill = flow({ name: 'bill' }, async (ask) => {
    const paid = ask.event('paid', { type: 'object', required: ['sum'] });
    await ask.step('send', async (step) => void urls.push(await step.url(paid)));
    return paid;
  });
  const clock = manualClock();
  const server = createServer({ name: 'bills', version: '1', log: createLog({ level: 'silent' }) });
  const sessions = serveFlows(server, [bill], { clock, limits: { respondsPerSecond: 3, eventBytes: 1000 } });
  await server.listen({ port: 0 });
  closing.push(() => server.close());
  await sessions.start({ principal: 'ada', tool: 'bill' });
  const url = await until('the URL', () => urls[0]);
  const post = async (body: string) => (await fetch(url, { method: 'POST', body })).status;
  return { clock, post };
}

test.each([
  ['is not JSON', '{"sum":', 400],
  ['does not fit', '{}', 400],
  ['is nested as deep as no event is', `${'['.repeat(400)}${']'.repeat(400)}`, 400],
  ['is too large', `"${'x'.repeat(2000)}"`, 413],
])('what %s counts like any other event', async (_, body, status) => {
  const { clock, post } = await waiting();
  for (let tries = 0; tries < 3; tries++) expect(await post(body)).toBe(status);
  expect(await post(body)).toBe(429);
  expect(await post('{"sum":7}')).toBe(429);
  clock.move(1000);
  expect(await post('{"sum":7}')).toBe(200);
});
