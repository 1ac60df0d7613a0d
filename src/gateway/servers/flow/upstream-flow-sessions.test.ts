import { describe, expect, it } from 'vitest';
import type { ClientView } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { FakeClock } from '../../../kernel/fake-exchange.contract.ts';
import { UpstreamFlowSessions } from './upstream-flow-sessions.ts';
import type { Player, SessionMessage } from './upstream-flow-sessions.ts';

const client = { principal: 'ada' } as ClientView;
const prompt = (sessionId = 's'): SessionMessage => ({
  method: 'interaction.prompt',
  params: { sessionId, prompt: { type: 'text' } },
});
const END: SessionMessage = {
  method: 'interaction.complete',
  params: { sessionId: 's', result: { success: true, data: { a: 1 } } },
};
const respond = { method: 'interaction.respond', params: { sessionId: 's', response: { value: 1 } } };

function setUp(isReachable: boolean) {
  const clock = new FakeClock();
  const sessions = new UpstreamFlowSessions(clock);
  const heard: string[] = [];
  const tell: Player['tell'] = async ({ method }) => (heard.push(method), { acknowledged: true });
  const player: Player = { client, tell: isReachable ? tell : undefined };
  const start = (result: JsonObject = { sessionId: 's', state: 'idle' }) => sessions.start(player, async () => result);
  const goOn = (result: JsonObject, request = respond) => sessions.goOn(player, request, async () => result);
  return { clock, sessions, heard, player, start, goOn };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a client that can receive messages', () => {
  it('receives its server’s messages, even before the answer to start', async () => {
    const { sessions, heard, player } = setUp(true);
    let answer!: (result: JsonObject) => void;
    const started = sessions.start(player, () => new Promise((resolve) => (answer = resolve)));
    const told = sessions.deliver(prompt());
    await turn();
    expect(heard).toEqual([]);
    answer({ sessionId: 's', state: 'idle' });
    expect(await started).toEqual({ sessionId: 's', state: 'idle' });
    expect(await told).toEqual({ acknowledged: true });
    expect(heard).toEqual(['interaction.prompt']);
  });

  it('receives a message from inside an answer after that answer', async () => {
    const { heard, start, goOn } = setUp(true);
    await start();
    const next = { state: 'waiting_user', method: 'interaction.prompt', prompt: { type: 'text' } };
    expect(await goOn({ accepted: true, next })).toEqual({ accepted: true });
    expect(heard).toEqual([]);
    await turn();
    expect(heard).toEqual(['interaction.prompt']);
  });

  it('receives nothing about unknown or ended sessions', async () => {
    const { sessions, heard, start } = setUp(true);
    await start();
    await expect(sessions.deliver(prompt('another'))).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' });
    await expect(sessions.deliver({ method: 'interaction.prompt', params: {} })).rejects.toThrow();
    await sessions.deliver(END);
    await expect(sessions.deliver(prompt())).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' });
    expect(heard).toEqual(['interaction.complete']);
    expect(sessions.of(client)).toEqual([]);
  });

  it('is dropped with a session that its server does not have', async () => {
    const { sessions, player } = setUp(true);
    const refused = sessions.goOn(player, respond, () => Promise.reject(new Error('Session not found')));
    await expect(refused).rejects.toThrow('Session not found');
    expect(sessions.of(client)).toEqual([]);
  });
});

describe('a client that cannot receive messages', () => {
  it('gets the next message with the answer that caused it', async () => {
    const { sessions, start, goOn } = setUp(false);
    const started = start();
    await turn();
    expect(await sessions.deliver(prompt())).toEqual({ acknowledged: true });
    expect(await started).toMatchObject({ next: { state: 'waiting_user', method: 'interaction.prompt' } });
    const answered = goOn({ accepted: true });
    await turn();
    await expect(sessions.deliver(END), 'nobody has acknowledged it').rejects.toMatchObject({
      code: 'CLIENT_CANNOT_BE_ASKED',
    });
    expect(await answered).toMatchObject({ next: { state: 'completed', method: 'interaction.complete' } });
    expect(sessions.of(client)).toEqual([]);
  });

  it('does not wait for ever, and gets a late message with its next request', async () => {
    const { clock, sessions, start, goOn } = setUp(false);
    const started = start();
    await turn();
    await clock.advance(20_000);
    expect(await started).toMatchObject({ next: { state: 'processing' } });
    await sessions.deliver(END).catch(() => {});
    const asked = await goOn({ state: 'completed' }, { ...respond, method: 'interaction.getState' });
    expect(asked).toMatchObject({ next: { method: 'interaction.complete', result: { success: true } } });
  });

  it('gets the server’s own next message unchanged', async () => {
    const { start } = setUp(false);
    const next = { state: 'waiting_user', method: 'interaction.prompt' };
    expect(await start({ sessionId: 's', next })).toEqual({ sessionId: 's', next });
  });
});
