import { describe, expect, it } from 'vitest';
import type { Ask, Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { TaskState } from '../../kernel/target.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { FakeClock, FakeExchange, answerOf } from './fake-exchange.contract.ts';
import { Server } from './server.ts';
import type { Call, ServerOptions, ToolHandler, ToolOptions } from './types.ts';

const GRACE_MS = 100;
const roots = { roots: [{ uri: 'file:///a' }] };
const text = (text: string) => ({ content: [{ type: 'text', text }], isError: false });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Something to be done by hand later. */
function later<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject };
}

interface Setting extends Partial<ServerOptions> {
  support?: ToolOptions['task'];
  task?: Exchange['task'];
  answer?: (ask: Ask) => JsonObject | Promise<JsonObject>;
}

/** One call of a tool that may run as a task, by a client that merely allows it. */
function call(handler: ToolHandler<JsonObject>, setting: Setting = {}) {
  const { support = 'optional', task = { requested: false }, answer, ...options } = setting;
  const clock = new FakeClock();
  const server = new Server({ name: 'test', version: '1', clock, ...options });
  server.tool('t', { task: support }, handler);
  const given = { params: { name: 't' }, task, ...(answer && { answer }) };
  const exchange = new FakeExchange('tools/call', given);
  const send = (method: string, params: JsonObject = {}) => answerOf(server, new FakeExchange(method, { params }));
  let answered: JsonObject | undefined;
  const answering = answerOf(server, exchange).then((result) => (answered = result));
  // A test that expects a failure awaits `answering` itself.
  answering.catch(() => undefined);
  return {
    server,
    clock,
    exchange,
    send,
    answering,
    answered: () => answered,
    task: async () => (await answering)['task'] as TaskState,
    get: async () => send('tasks/get', { taskId: ((await answering)['task'] as TaskState).taskId }),
    tasks: async () => (await send('tasks/list'))['tasks'],
  };
}

describe('a call that may become a task', () => {
  it('a call that may become a task is answered with its plain result when it ends before, and no task is ever made', async () => {
    const { answering, tasks, clock } = call(() => 'done');
    expect(await answering).toEqual(text('done'));
    expect(await tasks()).toEqual([]);
    expect(clock.timers).toBe(0);
    clock.advance(GRACE_MS);
    expect(await tasks()).toEqual([]);
  });

  it('a call that may become a task is answered with its plain failure when it fails before', async () => {
    const failed = call(() => Promise.reject(new Error('No luck')));
    expect(await failed.answering).toMatchObject({ isError: true });
    const refused = call(() => Promise.reject(new ProtocolError(-32042, 'Mine')));
    await expect(refused.answering).rejects.toMatchObject({ code: -32042 });
    expect(await refused.tasks()).toEqual([]);
    expect(refused.clock.timers).toBe(0);
  });

  it('becomes one at its first status', async () => {
    const end = later<string>();
    const { task, get, tasks, clock } = call((_, call) => {
      call.status('Working on it');
      return end.promise;
    });
    expect(await task()).toEqual({
      taskId: expect.stringMatching(/^task-/) as string,
      status: 'working',
      statusMessage: 'Working on it',
      createdAt: '2030-01-01T00:00:00.000Z',
      lastUpdatedAt: '2030-01-01T00:00:00.000Z',
      ttlMs: 3_600_000,
      pollIntervalMs: 500,
    });
    end.resolve('done');
    await turn();
    expect(await get()).toMatchObject({ status: 'completed', result: text('done') });
    clock.advance(GRACE_MS);
    expect(await tasks()).toHaveLength(1);
  });

  it('a call that may become a task is the same task at every further status', async () => {
    const { get, tasks } = call((_, call) => {
      call.status('one');
      call.status('two');
      return new Promise<never>(() => undefined);
    });
    expect(await get()).toMatchObject({ status: 'working', statusMessage: 'two' });
    expect(await tasks()).toHaveLength(1);
  });

  it('becomes one after the grace, and the very same run continues', async () => {
    let runs = 0;
    const end = later<string>();
    const { clock, answered, task, get } = call(() => {
      runs += 1;
      return end.promise;
    });
    clock.advance(GRACE_MS - 1);
    await turn();
    expect(answered()).toBeUndefined();
    clock.advance(1);
    expect(await task()).toMatchObject({ status: 'working' });
    expect(await get()).not.toHaveProperty('statusMessage');
    end.resolve('done');
    await turn();
    expect(await get()).toMatchObject({ status: 'completed', result: text('done') });
    expect(runs).toBe(1);
  });

  it('a call that may become a task has the grace that the author of the server gives it', async () => {
    const { clock, answered, task } = call(() => new Promise<never>(() => undefined), { taskGraceMs: 5000 });
    clock.advance(4999);
    await turn();
    expect(answered()).toBeUndefined();
    clock.advance(1);
    expect(await task()).toMatchObject({ status: 'working' });
  });

  it('fails as a task when it fails afterwards', async () => {
    const { get, answering } = call(async (_, call) => {
      call.status('Soon');
      await turn();
      throw new ProtocolError(-32042, 'Mine');
    });
    await answering;
    await turn();
    await turn();
    expect(await get()).toMatchObject({ status: 'failed', error: { code: -32042, message: 'Mine' } });
  });

  it('stays a plain call where there is no room for another task', async () => {
    const end = later<string>();
    const { clock, answering, tasks } = call(() => end.promise, { limits: { maxTasks: 0 } });
    clock.advance(GRACE_MS);
    end.resolve('done');
    expect(await answering).toEqual(text('done'));
    expect(await tasks()).toEqual([]);
  });

  it('lives as long as a task may', async () => {
    const limits = { taskTtlMs: 1000 };
    const { task } = call((_, call) => call.status('x'), { task: { requested: false, ttl: 5000 }, limits });
    expect(await task()).toMatchObject({ ttlMs: 1000 });
  });
});

describe('a question of a call that may become a task', () => {
  const asking = async (_: JsonObject, call: Call) => `${(await call.ask.roots({ key: 'where' })).length}`;

  it('goes through the exchange before the call becomes a task', async () => {
    const { answering, exchange, tasks } = call(asking, { answer: () => roots });
    expect(await answering).toEqual(text('1'));
    expect(exchange.asked).toMatchObject([{ method: 'roots/list', key: 'where' }]);
    expect(await tasks()).toEqual([]);
  });

  it('waits in the task once it is one', async () => {
    const { task, send, get, exchange } = call(
      async (_, call) => {
        call.status('Asking');
        return asking(_, call);
      },
      { answer: () => roots },
    );
    const { taskId } = await task();
    expect(await get()).toMatchObject({
      status: 'input_required',
      inputRequests: { where: { method: 'roots/list' } },
    });
    expect(exchange.asked).toEqual([]);
    await send('tasks/update', { taskId, inputResponses: { where: roots } });
    await turn();
    expect(await get()).toMatchObject({ status: 'completed', result: text('1') });
  });

  it('stops the grace period, which starts again when it is answered', async () => {
    const reply = later<JsonObject>();
    const handler = async (_: JsonObject, call: Call) => {
      await call.ask.roots();
      return new Promise<never>(() => undefined);
    };
    const { clock, answered, task } = call(handler, { answer: () => reply.promise });
    clock.advance(10 * GRACE_MS);
    await turn();
    expect([answered(), clock.timers]).toEqual([undefined, 0]);
    reply.resolve(roots);
    await turn();
    clock.advance(GRACE_MS - 1);
    await turn();
    expect(answered()).toBeUndefined();
    clock.advance(1);
    expect(await task()).toMatchObject({ status: 'working' });
  });

  it('restarts the grace period also when it is refused', async () => {
    const handler = async (_: JsonObject, call: Call) => {
      await call.ask.roots().catch(() => undefined);
      return new Promise<never>(() => undefined);
    };
    const { clock, task } = call(handler);
    await turn();
    expect(clock.timers).toBe(1);
    clock.advance(GRACE_MS);
    expect(await task()).toMatchObject({ status: 'working' });
  });

  it('a question of a call that may become a task is one of several that must all be answered before the grace period starts again', async () => {
    const replies = [later<JsonObject>(), later<JsonObject>()];
    let asked = 0;
    const answer = () => replies[asked++]!.promise;
    const { clock } = call(
      async (_, call) => {
        await Promise.all([call.ask.roots(), call.ask.roots()]);
        return new Promise<never>(() => undefined);
      },
      { answer },
    );
    replies[0]!.resolve(roots);
    await turn();
    expect(clock.timers).toBe(0);
    replies[1]!.resolve(roots);
    await turn();
    expect(clock.timers).toBe(1);
  });

  it('holds back a status until it is answered, since the request at hand is the question’s', async () => {
    const reply = later<JsonObject>();
    const end = later<string>();
    const { answered, tasks, task } = call(
      async (_, call) => {
        const asked = call.ask.roots();
        call.status('one');
        call.status('two');
        await asked;
        return end.promise;
      },
      { answer: () => reply.promise },
    );
    await turn();
    expect([answered(), await tasks()]).toEqual([undefined, []]);
    reply.resolve(roots);
    expect(await task()).toMatchObject({ status: 'working', statusMessage: 'two' });
  });

  it('makes no task when it is answered after the call has ended', async () => {
    const reply = later<JsonObject>();
    const { answering, clock, tasks } = call(
      (_, call) => {
        void call.ask.roots();
        call.status('Never seen');
        return 'done';
      },
      { answer: () => reply.promise },
    );
    expect(await answering).toEqual(text('done'));
    reply.resolve(roots);
    await turn();
    expect([await tasks(), clock.timers]).toEqual([[], 0]);
  });

  it('a question of a call that may become a task is possible where the client can be asked, before and after', async () => {
    const can: boolean[] = [];
    const handler = (_: JsonObject, call: Call) => {
      can.push(call.ask.can('roots'), call.ask.can('elicit-url'));
      call.status('x');
      can.push(call.ask.can('roots'), call.ask.can('elicit-url'));
    };
    await call(handler, { answer: () => roots }).answering;
    await call(handler).answering;
    expect(can).toEqual([true, false, true, false, false, false, false, false]);
  });
});

describe('the signal of a call that may become a task', () => {
  /** Runs until it is aborted, and notes the reason. */
  function untilAborted(reasons: unknown[], status?: string): ToolHandler<JsonObject> {
    return (_, call) => {
      const { signal } = call;
      if (status !== undefined) call.status(status);
      return new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason);
          reject(new Error('aborted'));
        });
      });
    };
  }

  it('the signal of a call that may become a task is aborted by the end of the request before it becomes a task, and then does not become one', async () => {
    const reasons: unknown[] = [];
    const { exchange, answering, clock, tasks } = call(untilAborted(reasons));
    exchange.controller.abort('gone');
    expect(reasons).toEqual(['gone']);
    await expect(answering).rejects.toMatchObject({ code: 'CANCELLED' });
    expect([clock.timers, await tasks()]).toEqual([0, []]);
  });

  it('the signal of a call that may become a task is the task’s from then on: aborted when that is cancelled, not by the end of the request', async () => {
    const reasons: unknown[] = [];
    const { exchange, task, send, get } = call(untilAborted(reasons, 'Working'));
    const { taskId } = await task();
    exchange.controller.abort('gone');
    expect(reasons).toEqual([]);
    await send('tasks/cancel', { taskId });
    expect(reasons).toMatchObject([{ code: 'CANCELLED' }]);
    await turn();
    expect(await get()).toMatchObject({ status: 'cancelled' });
  });

  it('the signal of a call that may become a task is the task’s also when it became one by the grace', async () => {
    const reasons: unknown[] = [];
    const { clock, exchange, task, server } = call(untilAborted(reasons));
    clock.advance(GRACE_MS);
    await task();
    exchange.controller.abort();
    expect(reasons).toEqual([]);
    server.dropTasks();
    expect(reasons).toMatchObject([{ code: 'CANCELLED' }]);
  });

  it('the signal of a call that may become a task is aborted from the start where the request was cancelled before', async () => {
    const server = new Server({ name: 'test', version: '1', clock: new FakeClock() });
    let wasAborted: boolean | undefined;
    server.tool('t', { task: 'optional' }, (_, call) => void (wasAborted = call.signal.aborted));
    const exchange = new FakeExchange('tools/call', { params: { name: 't' }, task: { requested: false } });
    exchange.controller.abort();
    await answerOf(server, exchange);
    expect(wasAborted).toBe(true);
  });

  it('lets no status and no answer make a task once it is aborted', async () => {
    const reply = later<JsonObject>();
    const { exchange, answering, tasks, clock } = call(
      async (_, call) => {
        await call.ask.roots().catch(() => undefined);
        call.status('Too late');
        return 'done';
      },
      { answer: () => reply.promise },
    );
    await turn();
    exchange.controller.abort();
    reply.reject(new GatewayError('CANCELLED'));
    expect(await answering).toEqual(text('done'));
    expect([await tasks(), clock.timers]).toEqual([[], 0]);
  });
});

describe('what a call that may become a task sends', () => {
  it('what a call that may become a task sends is sent before the call becomes a task, and dropped from then on', async () => {
    const { exchange, answering } = call((_, call) => {
      for (const when of ['before', 'after']) {
        call.progress(1, 2, when);
        call.log('info', when);
        call.notify(when);
        call.releaseStream(when.length);
        call.status('x');
      }
    });
    await answering;
    expect(exchange.progressed).toEqual([{ progress: 1, total: 2, message: 'before' }]);
    expect(exchange.logged).toMatchObject([{ data: 'before' }]);
    expect(exchange.notified).toEqual([['before', undefined]]);
    expect(exchange.released).toEqual([6]);
  });

  it('what a call that may become a task sends is about the request that it came with', async () => {
    const seen: unknown[] = [];
    const { exchange, answering } = call((_, call) => {
      seen.push(call.id, call.client.principal, call.trace, call.meta);
    });
    await answering;
    expect(seen).toEqual([exchange.id, 'alice', exchange.trace, {}]);
  });
});

describe('a call of a tool that must run as a task', () => {
  const support = 'required';

  it('a call of a tool that must run as a task is answered with a task that is over when it ends before it became one', async () => {
    const { task, get, clock } = call(() => 'done', { support });
    expect(await task()).toMatchObject({ status: 'completed' });
    expect(await get()).toMatchObject({ status: 'completed', result: text('done') });
    clock.advance(GRACE_MS);
    expect(await get()).toMatchObject({ status: 'completed' });
  });

  it('a call of a tool that must run as a task is answered with a task that failed when it fails before', async () => {
    const { task, get } = call(() => Promise.reject(new ProtocolError(-32042, 'Mine')), { support });
    expect(await task()).toMatchObject({ status: 'failed' });
    expect(await get()).toMatchObject({ error: { code: -32042, message: 'Mine' } });
  });

  it('becomes one as any other: at its first status, or after the grace', async () => {
    const forever = () => new Promise<never>(() => undefined);
    const saying = call((_, call) => (call.status('Now'), forever()), { support });
    expect(await saying.task()).toMatchObject({ status: 'working', statusMessage: 'Now' });
    const silent = call(forever, { support });
    silent.clock.advance(GRACE_MS);
    expect(await silent.task()).toMatchObject({ status: 'working' });
  });

  it('asks before it is one', async () => {
    const handler = async (_: JsonObject, call: Call) => `${(await call.ask.roots()).length}`;
    const { exchange, task, get } = call(handler, { support, answer: () => roots });
    expect(await task()).toMatchObject({ status: 'completed' });
    expect(exchange.asked).toHaveLength(1);
    expect(await get()).toMatchObject({ result: text('1') });
  });

  it('makes none for a client that went away', async () => {
    const end = later<string>();
    const { exchange, answering, tasks } = call(() => end.promise, { support });
    exchange.controller.abort();
    end.resolve('done');
    await answering;
    expect(await tasks()).toEqual([]);
  });

  it('fails where there is no room for another task', async () => {
    const { answering } = call(() => 'done', { support, limits: { maxTasks: 0 } });
    await expect(answering).rejects.toMatchObject({ code: 'TOO_MANY' });
  });
});
