// For tests only: what holds for questions in every channel, whatever it writes on the wire.
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Ask } from '../exchange.ts';
import type { JsonObject } from '../message.ts';

interface QuestionChannel {
  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject>;
  /** The questions that the client has been sent and that wait for its answer, by the keys of the wire. */
  shown(): Promise<ShownQuestion[]>;
  /** The client answers, also if nobody waits for it. */
  answer(key: string, action: 'accept' | 'decline'): unknown;
  /** The call that asks is over. */
  end(): void;
}

export interface ShownQuestion {
  key: string;
  message: string;
}

const CANCELLED = { code: 'CANCELLED' };

function question(message: string, key?: string): Ask {
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: { type: 'object', properties: {} } },
    key,
  };
}

/** How a promise stands, once everything that is under way has happened. */
async function stateOf(answer: Promise<JsonObject>, channel: QuestionChannel): Promise<unknown> {
  await channel.shown();
  return Promise.race([
    answer.then(
      ({ action }) => action,
      (error: { code: string }) => error.code,
    ),
    Promise.resolve('open'),
  ]);
}

/** A channel may show its questions one by one. */
async function answerAll(
  channel: QuestionChannel,
  actions: Record<string, 'accept' | 'decline'>,
): Promise<ShownQuestion[]> {
  const seen: ShownQuestion[] = [];
  for (;;) {
    const shown = (await channel.shown()).filter(({ key }) => !seen.some((one) => one.key === key));
    if (shown.length === 0) return seen;
    seen.push(...shown);
    for (const { key, message } of shown.toReversed()) await channel.answer(key, actions[message]!);
  }
}

export function checkQuestions(name: string, create: () => QuestionChannel | Promise<QuestionChannel>): void {
  describe(`questions ${name}, as in every channel,`, () => {
    it('each get their own answer, in whatever order they come', async () => {
      const channel = await create();
      const asked = ['one', 'two', 'three'].map((message) => channel.ask(question(message)));
      await answerAll(channel, { one: 'accept', two: 'decline', three: 'accept' });
      expect((await Promise.all(asked)).map(({ action }) => action)).toEqual(['accept', 'decline', 'accept']);
    });

    it('questions have keys of their own, whatever keys their askers want', async () => {
      const channel = await create();
      const wanted = ['a-1', 'a', 'a', undefined, 'a-2', 'a', '__proto__', 'constructor'];
      const asked = wanted.map((key, index) => channel.ask(question(`${index}`, key)));
      const actions = wanted.map((_, index) => (index % 2 ? ('decline' as const) : ('accept' as const)));
      const seen = await answerAll(channel, Object.fromEntries(actions.entries()));
      expect(new Set(seen.map(({ key }) => key)).size).toBe(wanted.length);
      expect((await Promise.all(asked)).map(({ action }) => action)).toEqual(actions);
    });

    it('take one answer: a second one is lost, and does not answer the next question', async () => {
      const channel = await create();
      const first = channel.ask(question('first'));
      const [{ key }] = (await channel.shown()) as [ShownQuestion];
      await channel.answer(key, 'accept');
      await channel.answer(key, 'decline');
      expect(await first).toMatchObject({ action: 'accept' });
      const second = channel.ask(question('second'));
      const [next] = await channel.shown();
      await channel.answer(key, 'decline');
      expect(await stateOf(second, channel)).toBe('open');
      expect(next).toMatchObject({ message: 'second' });
      await answerAll(channel, { second: 'accept' });
      expect(await second).toMatchObject({ action: 'accept' });
    });

    it('stay open when something else is answered', async () => {
      const channel = await create();
      const asked = channel.ask(question('one'));
      await channel.shown();
      for (const unknown of ['unknown', '', '__proto__', 'toString']) await channel.answer(unknown, 'decline');
      expect(await stateOf(asked, channel)).toBe('open');
      await answerAll(channel, { one: 'accept' });
      expect(await asked).toMatchObject({ action: 'accept' });
    });

    it('questions are not asked if their signal has aborted before', async () => {
      const channel = await create();
      await expect(channel.ask(question('late'), AbortSignal.abort())).rejects.toMatchObject(CANCELLED);
      expect(await channel.shown()).toEqual([]);
    });

    it('questions are taken back when their signal aborts, and an answer that comes later is lost', async () => {
      const channel = await create();
      const [controller, other] = [new AbortController(), new AbortController()];
      const withdrawn = channel.ask(question('withdrawn'), controller.signal);
      const kept = channel.ask(question('kept'), other.signal);
      kept.catch(() => {});
      const key = (await channel.shown()).find(({ message }) => message === 'withdrawn')!.key;
      controller.abort();
      await expect(withdrawn).rejects.toMatchObject(CANCELLED);
      await channel.answer(key, 'decline');
      expect(await stateOf(kept, channel)).toBe('open');
      const seen = await answerAll(channel, { kept: 'accept', withdrawn: 'decline' });
      expect(seen.map(({ message }) => message)).toEqual(['kept']);
      expect(await kept).toMatchObject({ action: 'accept' });
    });

    it('leave nothing at their signal, which may abort later', async () => {
      const channel = await create();
      const controller = new AbortController();
      const asked = channel.ask(question('one'), controller.signal);
      await answerAll(channel, { one: 'accept' });
      expect(await asked).toMatchObject({ action: 'accept' });
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
      controller.abort();
      const next = channel.ask(question('next'));
      await answerAll(channel, { next: 'decline' });
      expect(await next).toMatchObject({ action: 'decline' });
    });

    it('end with their call, and nothing is asked after it', async () => {
      const channel = await create();
      const asked = [channel.ask(question('one')), channel.ask(question('two'))];
      const ends = asked.map((answer) => expect(answer).rejects.toMatchObject(CANCELLED));
      const [{ key }] = (await channel.shown()) as [ShownQuestion];
      channel.end();
      await Promise.all(ends);
      await channel.answer(key, 'accept');
      await expect(channel.ask(question('three'))).rejects.toMatchObject(CANCELLED);
      expect(await channel.shown()).toEqual([]);
    });

    it('keep an answer that came before the end of their call', async () => {
      const channel = await create();
      const asked = channel.ask(question('one'));
      const [{ key }] = (await channel.shown()) as [ShownQuestion];
      const answered = channel.answer(key, 'accept');
      channel.end();
      await answered;
      expect(await asked).toMatchObject({ action: 'accept' });
    });
  });
}
