import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../../kernel/base/log.ts';
import type { CallMoment } from '../../kernel/events/call-notes.ts';
import { EventHub } from '../../kernel/events/event-hub.ts';
import { InternalExchange } from '../../kernel/internal-exchange.ts';
import { CALL_TOOL } from '../../kernel/methods.ts';
import { looseClient } from '../../mcp/eras/own-clients.ts';
import { createServer } from '../../sdk/server/create-server.ts';
import { EventsLayer } from '../events-layer.ts';
import { UpstreamTarget } from './upstream-target.ts';

const log = createLog({ level: 'silent' });
const CLIENT = { ...looseClient('watched'), revision: '2025-11-25' };
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function watchedServer() {
  const server = createServer({ name: 'notes', version: '1', log });
  server.tool('read', {}, () => 'fine');
  const { url } = await server.listen({ port: 0 });
  const target = new UpstreamTarget({
    name: 'notes',
    address: { url },
    client: { name: 'gateway', version: '1' },
    log,
  });
  open.push(
    () => target.close(),
    () => server.close(),
  );
  const hub = new EventHub({ log });
  const layer = new EventsLayer(target, hub, 'notes');
  const call = async (name: string) => layer.handle(new InternalExchange(CALL_TOOL, { name, arguments: {} }, CLIENT));
  return { hub, call };
}

describe('a call that somebody watches', () => {
  it('shows the messages of both legs, and how each of them is spoken to', async () => {
    const { hub, call } = await watchedServer();
    const moments: CallMoment[] = [];
    const answers: unknown[] = [];
    const ends: unknown[] = [];
    hub.watch({
      what: 'test',
      moment: (_, moment) => void moments.push(moment),
      answer: (_, answer) => void answers.push(answer),
      end: ({ outcome, server, spokenTo, exchange }) =>
        void ends.push({ outcome, server, to: spokenTo?.revision, from: exchange.client.revision }),
    });
    const result = await call('read');
    await call('unknown').catch(() => {});

    expect(moments.map(({ kind }) => kind)).toEqual(['sent', 'received', 'sent', 'received']);
    const [sent, received] = moments;
    expect(sent).toMatchObject({ method: CALL_TOOL, params: { name: 'read' }, spokenTo: { revision: '2026-07-28' } });
    expect(received).toMatchObject({ kind: 'received', result: expect.anything() });
    expect(answers[0]).toEqual({ result });
    expect(ends).toMatchObject([
      { outcome: 'ok', server: 'notes', from: '2025-11-25', to: '2026-07-28' },
      { server: 'notes', to: '2026-07-28' },
    ]);
  });

  it('shows them only while somebody watches what happens on the way', async () => {
    const { hub, call } = await watchedServer();
    const told: string[] = [];
    const stop = hub.watch({ what: 'test', moment: (_, { kind }) => void told.push(kind) });
    await call('read');
    stop();
    await call('read');
    expect(told).toEqual(['sent', 'received']);
  });
});
