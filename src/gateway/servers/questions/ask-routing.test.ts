import { describe, expect, it } from 'vitest';
import { SPEAKING } from '../../../mcp/eras/fake-views.contract.ts';
import type { Ask, ClientView } from '../../../kernel/exchange.ts';
import type { CancelOutcome } from '../../../kernel/base/cancelled-error.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { FakeClock, settled } from '../../../kernel/fake-exchange.contract.ts';
import { AskRouting } from './ask-routing.ts';
import type { AskHandler } from './open-call.ts';
import { CallHabits, OpenCall } from './open-call.ts';
import type { CallOwner } from './open-call.ts';

const client = (assisted?: ClientView['assisted']): ClientView => ({
  ...SPEAKING.handshake,
  revision: 'r',
  info: { name: 'c', version: '1' },
  capabilities: {},
  principal: 'p',
  assisted,
});
const elicitation = { form: {} };
const ask: Ask = { method: 'elicitation/create' };
const answers = (by: string) => async () => ({ by });
const UNCLEAR = { code: 'ASK_UNCLEAR' };
const ABANDONED = { code: 'ASK_ABANDONED' };
const CANNOT = { code: 'CLIENT_CANNOT_BE_ASKED' };

interface SetUp {
  isShared?: boolean;
  isExpecting?: boolean;
  capabilities?: object;
  asksByRequest?: boolean;
}

function setUp({
  isShared = true,
  isExpecting = false,
  asksByRequest = true,
  capabilities = { elicitation },
}: SetUp = {}) {
  const worn: boolean[] = [];
  const clock = new FakeClock();
  const habits = new CallHabits();
  const routing = new AskRouting({
    capabilities,
    isExpecting,
    clock,
    isShared: () => isShared,
    asksByRequest: () => asksByRequest,
    onWorn: (isWorn) => void worn.push(isWorn),
  });
  const send = (handler: AskHandler, { by = client(), ...more }: Partial<OpenCall> & { by?: ClientView } = {}) => {
    const caller: CallOwner & { isGone: boolean } = {
      client: by,
      ask: handler,
      isGone: false,
      mayAsk: true,
      tell: () => {},
    };
    const call = Object.assign(new OpenCall(routing, caller), {
      method: 'tools/call',
      subject: 'tool',
      habits,
      ...more,
    });
    const clock = { pauses: 0 };
    call.onSent({ pause: () => void clock.pauses++, resume: () => void clock.pauses-- });
    return { call, caller, clock };
  };
  return { routing, send, habits, worn, clock };
}

describe('a question that names no call, on a shared connection', () => {
  it('goes to the one call that the server has not answered, and to nobody once it has', async () => {
    const { routing, send, habits } = setUp();
    const { call } = send(answers('call'));
    expect(await routing.route(ask)).toEqual({ by: 'call' });
    expect([habits.asks('tool'), habits.asksUnnamed]).toEqual([true, true]);
    call.onAnswered();
    await expect(routing.route(ask)).rejects.toMatchObject(CANNOT);
  });

  it('is refused at once when several calls can have asked it, and each of them is known to ask', async () => {
    const { routing, send, habits } = setUp();
    send(answers('one'), { subject: 'pay' });
    const other = send(answers('other'), { subject: 'report' });
    await expect(routing.route(ask)).rejects.toMatchObject(UNCLEAR);
    expect(['pay', 'report'].map((subject) => habits.asks(subject))).toEqual([true, true]);
    other.call.onAnswered();
    expect(await routing.route(ask)).toEqual({ by: 'one' });
  });

  it('is refused also when the calls are of one client: the wrong one would ask in the words of another', async () => {
    const { routing, send } = setUp();
    const by = client({ elicitation });
    send(answers('first'), { by });
    send(answers('second'), { by });
    await expect(routing.route(ask)).rejects.toMatchObject(UNCLEAR);
  });

  it('an abandoned call counts until the server answers it', async () => {
    const { routing, send } = setUp();
    const { call } = send(answers('bob'), { subject: 'pay' });
    send(answers('alice'), { subject: 'report' });
    call.onAbandoned();
    await expect(routing.route(ask)).rejects.toMatchObject(UNCLEAR);
    call.onAnswered();
    expect(await routing.route(ask)).toEqual({ by: 'alice' });
  });

  it('is refused when the only call that can have asked was given up, or is about to be', async () => {
    const { routing, send } = setUp();
    const { call, caller } = send(answers('bob'));
    caller.isGone = true;
    await expect(routing.route(ask)).rejects.toMatchObject(ABANDONED);
    call.onAbandoned();
    await expect(routing.route(ask)).rejects.toMatchObject(ABANDONED);
  });

  it('nothing is learned from a question that the server must not ask', async () => {
    const { routing, send, habits } = setUp();
    send(answers('one'));
    send(answers('other'));
    await expect(routing.route({ method: 'roots/list' })).rejects.toMatchObject(CANNOT);
    expect(habits.asks('tool')).toBe(false);
  });

  it('is never asked of a client outside of its calls', async () => {
    const { routing } = setUp();
    routing.attend(answers('client'));
    await expect(routing.route(ask)).rejects.toMatchObject(CANNOT);
    await expect(routing.routeLate(ask)).rejects.toMatchObject(ABANDONED);
  });

  it('counts requests that the gateway makes for itself', async () => {
    const { routing, send, habits } = setUp();
    send(answers('call'));
    const own = Object.assign(new OpenCall(routing, undefined), { method: 'resources/subscribe', habits });
    own.onSent();
    await expect(routing.route(ask)).rejects.toMatchObject(UNCLEAR);
    own.onAnswered();
    expect(await routing.route(ask)).toEqual({ by: 'call' });
  });
});

describe('a question for roots, to a client that is asked only during its calls', () => {
  const roots: Ask = { method: 'roots/list' };
  const own = () => {
    const all = setUp({ isShared: false, capabilities: { roots: {} } });
    all.routing.isAskedInCalls = true;
    return all;
  };

  it('waits for the next call', async () => {
    const { routing } = own();
    const asked = routing.route(roots);
    await settled();
    expect(routing.postponed.isEmpty).toBe(false);
    await routing.postponed.askAll(answers('next call'));
    expect(await asked).toEqual({ by: 'next call' });
    expect(routing.postponed.isEmpty).toBe(true);
  });

  it('waits for the next call also where the present one ends without an answer', async () => {
    const { routing, send } = own();
    let end = (_: unknown): void => {};
    const { call } = send(() => new Promise((_, reject) => (end = reject)));
    const asked = routing.route(roots);
    call.onAnswered();
    end(new GatewayError('CANCELLED'));
    await settled();
    expect(routing.postponed.isEmpty).toBe(false);
    await routing.postponed.askAll(answers('next call'));
    expect(await asked).toEqual({ by: 'next call' });
  });

  it('is refused when no call comes in time, or when the server gives up', async () => {
    const { routing, clock } = own();
    const late = expect(routing.route(roots)).rejects.toMatchObject(CANNOT);
    await clock.advance(60_000);
    await late;
    const controller = new AbortController();
    const cancelled = routing.route(roots, controller.signal);
    controller.abort();
    await expect(cancelled).rejects.toMatchObject(CANNOT);
    expect(routing.postponed.isEmpty).toBe(true);
  });

  it('does not postpone other questions, nor more than a few', async () => {
    const { routing } = own();
    await expect(routing.route(ask)).rejects.toMatchObject(CANNOT);
    const asked = Array.from({ length: 16 }, () => routing.route(roots));
    await expect(routing.route(roots)).rejects.toMatchObject(CANNOT);
    await routing.postponed.askAll(answers('next call'));
    expect(await Promise.all(asked)).toHaveLength(16);
  });
});

describe('a shared connection', () => {
  it('takes no calls that may ask while a question is open', async () => {
    const { routing, send } = setUp();
    let answer = (_: object): void => {};
    send(() => new Promise((resolve) => (answer = resolve as never)));
    const asked = routing.route(ask);
    expect(routing.takesCalls).toBe(false);
    answer({});
    await asked;
    expect(routing.takesCalls).toBe(true);
  });

  it('is worn out by an abandoned call until the server answers that', () => {
    const { routing, send, worn } = setUp();
    const { call } = send(answers('call'), { by: client({ elicitation }) });
    call.onAbandoned();
    expect([routing.takesCalls, worn]).toEqual([false, [true]]);
    call.onAnswered();
    expect([routing.takesCalls, worn]).toEqual([true, [true, false]]);
  });

  it('is not worn out by the cancel of a client that is asked itself, until the server asks anybody', async () => {
    const { routing, send, worn } = setUp();
    send(answers('call')).call.onAbandoned();
    expect([routing.takesCalls, worn]).toEqual([true, []]);
    await expect(routing.route(ask)).rejects.toMatchObject(ABANDONED);
    send(answers('call'), { subject: 'pay' }).call.onAbandoned();
    expect([routing.takesCalls, worn]).toEqual([false, [true]]);
  });

  it('is not worn out by a tool that was answered without asking before, unless a question may be its', async () => {
    const { routing, send, worn } = setUp();
    const by = client({ elicitation });
    send(answers('call'), { subject: 'report', by }).call.onAnswered();
    send(answers('call'), { subject: 'report', by }).call.onAbandoned();
    expect([routing.takesCalls, worn]).toEqual([true, []]);
    send(answers('call'), { subject: 'pay' });
    await expect(routing.route(ask)).rejects.toMatchObject(UNCLEAR);
    expect([routing.takesCalls, worn]).toEqual([false, [true]]);
  });

  it.each([{ capabilities: {} }, { asksByRequest: false }])(
    'is not worn out where the server cannot ask: %o',
    (options) => {
      const { routing, send, worn } = setUp(options);
      send(answers('call')).call.onAbandoned();
      expect([routing.takesCalls, worn]).toEqual([true, []]);
    },
  );

  it('remembers no more abandoned calls than it has room for, and asks nobody by guess then', async () => {
    const { routing, send } = setUp();
    for (let count = 0; count < 1002; count++) send(answers('call')).call.onAbandoned();
    expect(routing.takesCalls).toBe(false);
    await expect(routing.route(ask)).rejects.toMatchObject(UNCLEAR);
    routing.reset();
    send(answers('new'));
    expect([routing.takesCalls, await routing.route(ask)]).toEqual([true, { by: 'new' }]);
  });
});

describe('a question of a task', () => {
  const related = (taskId: string): Ask => ({
    ...ask,
    params: { _meta: { 'io.modelcontextprotocol/related-task': { taskId } } },
  });

  it('goes to the request that waits for the result of this task', async () => {
    const { routing, send } = setUp();
    send(answers('bob'), { method: 'tasks/result', taskId: 'b' });
    send(answers('alice'), { method: 'tasks/result', taskId: 'a' });
    expect(await routing.route(related('b'))).toEqual({ by: 'bob' });
  });

  it('may be one that names no call, until the task has ended', async () => {
    const { routing, send } = setUp();
    const bob = send(answers('bob'), { startsTask: true });
    bob.call.onAnswered({ task: { taskId: 'b' } });
    bob.caller.isGone = true;
    expect(routing.hasTasks).toBe(true);
    send(answers('alice'));
    await expect(routing.route(ask)).rejects.toMatchObject(UNCLEAR);
    const result = send(answers('bob'), { method: 'tasks/get', taskId: 'b' });
    result.call.onAnswered({ status: 'working' });
    await expect(routing.route(ask)).rejects.toMatchObject(UNCLEAR);
    const last = send(answers('bob'), { method: 'tasks/result', taskId: 'b' });
    last.call.onAnswered({});
    expect(routing.hasTasks).toBe(false);
    expect(await routing.route(ask)).toEqual({ by: 'alice' });
  });

  it('has one suspect, not two, while the result of the only task is waited for', async () => {
    const { routing, send } = setUp();
    send(answers('bob'), { startsTask: true }).call.onAnswered({ task: { taskId: 'b' } });
    send(answers('waiting'), { method: 'tasks/result', taskId: 'b' });
    expect(await routing.route(ask)).toEqual({ by: 'waiting' });
  });
});

describe('on a connection of its own, a client that is asked directly', () => {
  it('is asked on the latest of its calls', async () => {
    const { routing, send } = setUp({ isShared: false });
    routing.attend(answers('client'));
    const by = client();
    send(answers('first'), { by });
    send(answers('second'), { by });
    expect(await routing.route(ask)).toEqual({ by: 'second' });
  });

  const endingIn = (outcome: CancelOutcome) => {
    const { routing, send } = setUp({ isShared: false });
    routing.attend(answers('client'));
    const by = client();
    send(answers('first'), { by });
    const second = send(
      async () => {
        if (outcome === 'answered') second.call.onAnswered();
        else second.call.onAbandoned();
        throw new GatewayError('CANCELLED', { outcome });
      },
      { by },
    );
    return routing.route(ask);
  };

  it('is asked again when the call that it was asked on is answered first', async () => {
    expect(await endingIn('answered')).toEqual({ by: 'first' });
  });

  it.each(['cancelled', 'gone', 'withdrawn'] as const)(
    'is not asked again when the question ended because its call was %s',
    async (outcome) => {
      await expect(endingIn(outcome)).rejects.toMatchObject({ code: 'CANCELLED' });
    },
  );

  it('is asked itself where there is no call, or only one that it gave up', async () => {
    const { routing, send, worn } = setUp({ isShared: false });
    routing.attend(answers('client'));
    expect(await routing.route(ask)).toEqual({ by: 'client' });
    send(answers('call')).call.onAbandoned();
    expect([await routing.route(ask), worn]).toEqual([{ by: 'client' }, []]);
    expect(await routing.routeLate(ask)).toEqual({ by: 'client' });
  });

  it('is waited for when it is about to come, and the question is refused when it does not', async () => {
    const { routing } = setUp({ isShared: false, isExpecting: true });
    const early = routing.route(ask);
    routing.attend(answers('client'));
    expect(await early).toEqual({ by: 'client' });

    const dismissed = setUp({ isShared: false, isExpecting: true });
    const never = dismissed.routing.route(ask);
    dismissed.routing.dismiss();
    await expect(never).rejects.toMatchObject(CANNOT);
  });

  it('is not waited for by a question that the server has taken back', async () => {
    const controller = new AbortController();
    const { routing } = setUp({ isShared: false, isExpecting: true });
    const early = routing.route(ask, controller.signal);
    controller.abort();
    await expect(early).rejects.toMatchObject(CANNOT);
  });
});

describe('a ping of the server', () => {
  const ping: Ask = { method: 'ping' };

  it('is for the client whose own connection it is, in whose words it may fail', async () => {
    const { routing } = setUp({ isShared: false });
    routing.attend(answers('client'));
    expect(await routing.ping(ping)).toEqual({ by: 'client' });
    routing.attend(() => Promise.reject(new GatewayError('ASK_REFUSED', { method: 'ping', reason: 'no' })));
    await expect(routing.ping(ping)).rejects.toMatchObject({ code: 'ASK_REFUSED' });
  });

  it('is answered where the client cannot be reached, or is one of several', async () => {
    const { routing } = setUp({ isShared: false });
    expect(await routing.ping(ping)).toEqual({});
    routing.attend(() => Promise.reject(new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: 'ping' })));
    expect(await routing.ping(ping)).toEqual({});
    const shared = setUp();
    shared.routing.attend(answers('client'));
    expect(await shared.routing.ping(ping)).toEqual({});
  });
});

describe('while a question is open', () => {
  const open = () => {
    let answer = (): void => {};
    const handler: AskHandler = () => new Promise((resolve) => (answer = () => resolve({})));
    return { handler, answer: () => answer() };
  };

  it('the call that asked does not time out, and others do', async () => {
    const { routing, send } = setUp();
    const { handler, answer } = open();
    const one = send(handler);
    const asked = routing.route(ask);
    const other = send(answers('other'));
    await settled();
    expect([one.clock.pauses, other.clock.pauses]).toEqual([1, 0]);
    answer();
    await asked;
    expect(one.clock.pauses).toBe(0);
  });

  it('no call of a client that can have asked it times out', async () => {
    const { routing, send } = setUp({ isShared: false });
    const { handler, answer } = open();
    const by = client();
    const calls = [send(handler, { by }), send(handler, { by })];
    const asked = routing.route(ask);
    await settled();
    expect(calls.map(({ clock }) => clock.pauses)).toEqual([1, 1]);
    answer();
    await asked;
    expect(calls.map(({ clock }) => clock.pauses)).toEqual([0, 0]);
  });
});
