import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../audit.ts';
import { GatewayError } from '../base/errors.ts';
import { createLog } from '../base/log.ts';
import type { ClientView } from '../exchange.ts';
import { InternalExchange } from '../internal-exchange.ts';
import type { JsonObject } from '../message.ts';
import { EventHub } from './event-hub.ts';
import type { EventWatcher } from './event-watcher.ts';

const log = createLog({ level: 'silent' });
const CLIENT = { info: { name: 'c', version: '1' }, principal: 'local' } as ClientView;
const REFUSAL: AuditEvent = { kind: 'refusal', outcome: 'UNAUTHORIZED' };

function call(method = 'tools/call', params: JsonObject = { name: 'read' }): InternalExchange {
  return new InternalExchange(method, params, CLIENT);
}

/** Writes down what it hears, in its order. */
function listening(more: Partial<EventWatcher> = {}) {
  const heard: string[] = [];
  const watcher: EventWatcher = {
    what: 'test',
    begin: ({ method, shownName }) => void heard.push(`begin ${method} ${shownName}`),
    answer: (_, answer) => void heard.push('result' in answer ? 'answer' : 'refused'),
    end: ({ outcome, ms }) => void heard.push(`end ${outcome} ${typeof ms}`),
    event: ({ kind }) => void heard.push(kind),
    ...more,
  };
  return { heard, watcher };
}

function logged() {
  const lines: unknown[] = [];
  return { lines, log: { ...log, error: (about: unknown) => void lines.push(about) } as typeof log };
}

describe('the hub of events', () => {
  it('makes nothing of a call that nobody watches', () => {
    const exchange = call();
    const hub = new EventHub({ log });
    expect(hub.begin(exchange)).toBe(undefined);
    hub.watch({ what: 'test', event: () => {} });
    expect(hub.begin(exchange)).toBe(undefined);
    expect(Object.hasOwn(exchange, 'observed')).toBe(false);
  });

  it('tells of the begin and the end of a call, and of its answer', async () => {
    const hub = new EventHub({ log });
    const { heard, watcher } = listening();
    hub.watch(watcher);
    hub.answered(hub.begin(call())!, { isError: true });
    hub.failed(hub.begin(call())!, new GatewayError('CANCELLED'));
    const answer = Promise.resolve({});
    hub.follow(hub.begin(call())!, answer);
    await answer;
    expect(heard.filter((one) => one.startsWith('begin'))).toEqual(Array(3).fill('begin tools/call read'));
    expect(heard.filter((one) => !one.startsWith('begin'))).toEqual([
      'answer',
      'end tool_error number',
      'refused',
      'end CANCELLED number',
      'answer',
      'end ok number',
    ]);
  });

  it('calls what a person has refused declined, and no error', () => {
    const hub = new EventHub({ log });
    const { heard, watcher } = listening();
    hub.watch(watcher);
    const declined = () => Object.assign(hub.begin(call())!, { isDeclined: true });
    hub.answered(declined(), { isError: true });
    hub.failed(declined(), new GatewayError('NOT_APPROVED', { what: 'read' }));
    hub.answered(declined(), {});
    hub.failed(declined(), new GatewayError('CANCELLED'));
    const ends = heard.filter((one) => one.startsWith('end')).map((one) => one.split(' ')[1]);
    expect(ends).toEqual(['declined', 'declined', 'ok', 'CANCELLED']);
  });

  it('ends a call that waits for a person when it really ends', async () => {
    const hub = new EventHub({ log });
    const { heard, watcher } = listening();
    hub.watch(watcher);
    const one = hub.begin(call())!;
    let finish = (_: JsonObject): void => {};
    const ending = new Promise<JsonObject>((resolve) => (finish = resolve));
    one.ending = ending;
    hub.answered(one, { content: [] });
    expect(heard.at(-1)).toBe('answer');
    finish({});
    await ending;
    expect(heard.slice(1)).toEqual(['answer', 'end ok number']);
  });

  it('tells of requests that only look only to those who see all', () => {
    const hub = new EventHub({ log });
    const [some, all] = [listening(), listening({ seesAll: true })];
    for (const { watcher } of [some, all]) hub.watch(watcher);
    hub.answered(hub.begin(call('tools/list', {}))!, { tools: [] });
    expect(some.heard).toEqual([]);
    expect(all.heard).toEqual(['begin tools/list undefined', 'answer', 'end ok number']);
  });

  it('tells of the end of each call that a watcher has seen begin, and of no other', () => {
    const hub = new EventHub({ log });
    const { heard, watcher } = listening();
    hub.watch({ what: 'other', end: () => {} });
    const before = hub.begin(call())!;
    const stop = hub.watch(watcher);
    hub.answered(before, {});
    expect(heard).toEqual([]);
    const within = hub.begin(call())!;
    stop();
    stop();
    hub.answered(within, {});
    hub.answered(hub.begin(call())!, {});
    hub.tell(REFUSAL);
    expect(heard).toEqual(['begin tools/call read', 'answer', 'end ok number']);
  });

  it('makes moments only for those who watch them', () => {
    const hub = new EventHub({ log });
    hub.watch(listening().watcher);
    expect(hub.begin(call())!.hasMoments).toBe(false);
    const kinds: string[] = [];
    hub.watch({ what: 'test', moment: (_, { kind }) => void kinds.push(kind) });
    const watched = hub.begin(call())!;
    expect(watched.hasMoments).toBe(true);
    watched.tell({ kind: 'asked', method: 'elicitation/create', params: {}, ofGateway: false });
    expect(kinds).toEqual(['asked']);
  });

  it('goes on when a watcher throws, at once or later, and logs what it threw', async () => {
    const { lines, log: noted } = logged();
    const hub = new EventHub({ log: noted });
    const fail = (): never => {
      throw new Error('at once');
    };
    const reject = () => Promise.reject(new Error('later')) as unknown as undefined;
    hub.watch({ what: 'first', begin: fail, answer: fail, end: fail, event: fail });
    hub.watch({ what: 'second', begin: reject, answer: reject, end: reject, event: reject });
    const { heard, watcher } = listening();
    hub.watch(watcher);
    hub.answered(hub.begin(call())!, {});
    hub.tell(REFUSAL);
    expect(heard).toEqual(['begin tools/call read', 'answer', 'end ok number', 'refusal']);
    await Promise.resolve();
    await Promise.resolve();
    expect(lines).toMatchObject([
      ...Array.from({ length: 4 }, () => expect.objectContaining({ callback: expect.any(String) })),
      ...Array.from({ length: 4 }, () => expect.objectContaining({ callback: 'second' })),
    ]);
  });

  it('lets something that must be proved fail with the watcher that cannot take it', () => {
    const hub = new EventHub({ log });
    expect(() => hub.prove(REFUSAL)).not.toThrow();
    hub.watch({
      what: 'test',
      event() {
        throw new Error('disk full');
      },
    });
    expect(() => hub.prove(REFUSAL)).toThrow('disk full');
    expect(() => hub.tell(REFUSAL)).not.toThrow();
  });
});
