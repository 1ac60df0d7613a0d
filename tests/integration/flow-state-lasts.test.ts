// How long a client of 2026-07-28 may take to answer a flow: as long as the flow's own `timeout`, directly and through gateways. The clock is
// moved, so that nobody waits for it.
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { manualClock } from '../../src/flow/testing/manual-clock.ts';
import { send } from '../helpers/http-wire.ts';
import type { Json } from '../helpers/http-wire.ts';
import { elicits, modern } from '../helpers/mcp-http.ts';

const log = createLog({ level: 'silent' });
const MINUTE = 60_000;
const survey = flow({ name: 'survey', timeout: '40m' }, async (ask) => `Off to ${await ask.text('city')}`);
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

async function serving(gateways: number) {
  const clock = manualClock(Date.now());
  const server = createServer({ name: 'surveys', version: '1', log, clock });
  serveFlows(server, [survey], { keys: ['the key of this test'] });
  open.push(server);
  let { url } = await server.listen({ port: 0 });
  for (let count = 0; count < gateways; count++) {
    const gateway = createGateway({ servers: { surveys: { url } }, log, clock, startMs: 60_000 });
    open.push(gateway);
    ({ url } = await gateway.listen({ port: 0 }));
  }
  const call = async (more: Json) => {
    const params = { name: 'survey', arguments: {}, ...more };
    const { json } = await send(url, modern('tools/call', params, elicits));
    return json as { result?: Json & { content?: { text: string }[] }; error?: { message: string } };
  };
  return { clock, call };
}

describe.each([0, 1, 2])('through %s gateways', (gateways) => {
  test.each([
    [39, { result: { content: [{ text: 'Off to Oslo' }] } }],
    [41, { error: { message: 'Invalid or expired requestState' } }],
  ])('an answer after %s minutes', async (minutes, expected) => {
    const { clock, call } = await serving(gateways);
    const { requestState } = (await call({})).result!;
    clock.move(minutes * MINUTE);
    const inputResponses = { city: { action: 'accept', content: { city: 'Oslo' } } };
    expect(await call({ requestState, inputResponses })).toMatchObject(expected);
  });
});
