// The metrics of sessions.
import { afterEach, describe, expect, it } from 'vitest';
import { connect } from '../sdk/client/connect.ts';
import { createGateway } from '../gateway/gateway.ts';
import { writeFamilies } from '../kernel/base/metric.ts';
import { parseMetrics } from '../kernel/base/parse-metrics.contract.ts';
import { createServer } from '../sdk/server/create-server.ts';
import { createLog } from '../kernel/base/log.ts';
import { until } from '../../tests/helpers/until.ts';
import type { Ask } from './authoring/ask.ts';
import { flow } from './define.ts';
import { Sessions } from './session/sessions.ts';
import { settled } from './session/turn/turn.ts';
import { memoryStore } from './store/memory/memory.ts';
import type { FlowStore } from './store/store.ts';
import { manualClock } from './testing/manual-clock.ts';
import { serveFlows } from './wire/serve-flows.ts';
import { OpenSessions } from './flow-metrics.ts';

const log = createLog({ level: 'silent' });
const me = { principal: 'me' };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function started(body: (ask: Ask) => Promise<unknown>, name = 'x') {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const deploy = (next: (ask: Ask) => Promise<unknown>, tool = name) =>
    new Sessions([flow({ name: tool }, next)], { store, clock, log, limits: { undoAttempts: 1 } });
  const sessions = deploy(body);
  const start = async () => (await settled(await sessions.start({ ...me, tool: name }))).header.id;
  const answer = async (sessionId: string, value: unknown, by = sessions) =>
    settled(await by.answer({ ...me, sessionId, answers: [{ value }] }));
  const counted = (by = sessions) => parseMetrics(writeFamilies(by.context.counts.families()));
  return { clock, store, deploy, sessions, start, answer, counted };
}

describe('what is counted by flow', () => {
  it('is how sessions began and ended, and how many turns that took', async () => {
    const { clock, sessions, start, answer, counted } = started(async (ask) => {
      if ((await ask.text('a')) === 'fail') throw new Error('Failed');
    });
    const ids = [await start(), await start(), await start(), await start()];
    await answer(ids[0]!, 'fine');
    await answer(ids[1]!, 'fail');
    await sessions.cancel({ ...me, sessionId: ids[2]! });
    clock.move(301_000);
    await sessions.sweep();
    expect(counted()).toMatchObject({
      parley_flow_started_total: { 'flow=x': 4 },
      parley_flow_ended_total: {
        'flow=x,outcome=completed': 1,
        'flow=x,outcome=failed': 1,
        'flow=x,outcome=cancelled': 1,
        'flow=x,outcome=expired': 1,
      },
      parley_flow_turns_total: { 'flow=x': 6 },
    });
  });

  it('is how often steps were tried again, questions were not answered, and effects could not be undone', async () => {
    let tries = 0;
    const { clock, sessions, start, counted } = started(async (ask) => {
      const work = () => {
        if (++tries < 3) throw new Error('Busy');
      };
      const undo = () => Promise.reject(new Error('away'));
      await ask.step('slow', work, { effect: 'retry', undo, retry: { attempts: 5, pause: 1 } });
      await ask.text('a', { timeout: '1s', onTimeout: 'cancel' });
    });
    const beginning = start();
    let hasBegun = false;
    void beginning.then(() => (hasBegun = true));
    await until('the steps to be done', () => {
      clock.move(1);
      return hasBegun;
    });
    clock.move(2000);
    await sessions.sweep();
    await until('the end', () => counted()['parley_flow_not_undone_total']!['flow=x'] === 1);
    expect(counted()).toMatchObject({
      parley_flow_step_retries_total: { 'flow=x': 2 },
      parley_flow_ended_total: { 'flow=x,outcome=cancelled': 1 },
    });
  });

  it('is what was parked, once, and what is not served here under one name', async () => {
    const { deploy, sessions, start, answer, counted, clock } = started(async (ask) => [
      await ask.text('a'),
      await ask.text('b'),
    ]);
    const id = await start();
    await answer(id, '1');
    const broken = deploy(async (ask) => [await ask.step('a', () => 1), await ask.text('b')]);
    await expect(answer(id, '2', broken)).rejects.toThrow('a was a question');
    await expect(answer(id, '2', broken)).rejects.toThrow('a was a question');
    expect(counted(broken)['parley_flow_parked_total']).toEqual({ 'flow=x': 1 });
    expect(counted()['parley_flow_parked_total']).toEqual({ 'flow=x': 0 });
    await Promise.all([sessions.close(), broken.close()]);
    const other = deploy(async (ask) => ask.text('a'), 'y');
    clock.move(8 * 24 * 3_600_000);
    await other.sweep();
    expect(counted(other)['parley_flow_ended_total']).toMatchObject({ 'flow=other,outcome=expired': 1 });
  });

  it('is how many are open in the store, as they stood when it was last looked', async () => {
    const { start, store, clock } = started(async (ask) => ask.text('a'));
    await start();
    await start();
    const open = new OpenSessions({ store, clock, log }, ['x']);
    const samples = async () => parseMetrics(writeFamilies([await open.family()]))['parley_flow_sessions'];
    const states = { 'flow=x,state=working': 0, 'flow=x,state=parked': 0, 'flow=x,state=ending': 0 };
    expect(await samples()).toEqual({ 'flow=x,state=waiting': 2, ...states });
    await start();
    expect((await samples())!['flow=x,state=waiting']).toBe(2);
    clock.move(15_000);
    await until('the next look', async () => (await samples())!['flow=x,state=waiting'] === 3);
  });

  it('leaves out open sessions if the store does not answer', async () => {
    const { store, clock } = started(async (ask) => ask.text('a'));
    const silent = Object.assign(Object.create(store) as FlowStore, {
      async *browse() {
        await new Promise(() => {});
        yield [];
      },
    });
    const open = new OpenSessions({ store: silent, clock, log }, ['x']);
    const family = open.family();
    clock.move(2000);
    expect((await family).samples).toEqual([]);
  });
});

describe('counters of flows are seen', () => {
  const served = () => {
    const server = createServer({ name: 'trips', version: '1', log });
    serveFlows(server, [flow({ name: 'trip' }, async () => 'Booked')], { log });
    closing.push(() => server.close());
    return server;
  };
  const metricsAt = async (url: string) => {
    const response = await fetch(new URL('/metrics', url));
    return { status: response.status, metrics: response.ok ? parseMetrics(await response.text()) : {} };
  };

  it('at /metrics of the gateway, with the name of the server', async () => {
    const gateway = createGateway({ log, servers: { a: served(), b: served() } });
    closing.push(() => gateway.close());
    const { url } = await gateway.listen({ port: 0 });
    const client = await connect({ url }, { log });
    closing.push(() => client.close());
    await client.callTool('a__trip', {});
    const { metrics } = await metricsAt(url);
    expect(metrics['parley_flow_started_total']).toEqual({ 'flow=trip,server=a': 1, 'flow=trip,server=b': 0 });
    expect(metrics['parley_flow_sessions']).toMatchObject({ 'flow=trip,server=a,state=waiting': 0 });
  });

  it('at /metrics of a server that listens for this machine alone', async () => {
    const server = served();
    const { url } = await server.listen({ port: 0 });
    const client = await connect({ url }, { log });
    closing.push(() => client.close());
    await client.callTool('trip', {});
    expect((await metricsAt(url)).metrics).toMatchObject({
      parley_flow_started_total: { 'flow=trip': 1 },
      parley_flow_ended_total: { 'flow=trip,outcome=completed': 1 },
    });
    const { port } = await served().listen({ port: 0, host: '0.0.0.0', open: true });
    expect((await metricsAt(`http://127.0.0.1:${port}/mcp`)).status).toBe(404);
  });
});
