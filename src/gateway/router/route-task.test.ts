import { describe, expect, it } from 'vitest';
import type { Ask, Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { fieldOf } from '../../kernel/raw/raw-object.ts';
import type { TaskState } from '../../kernel/target.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { createSealer } from '../../kernel/crypto/seal.ts';
import { FakeTarget } from '../../mcp/eras/fake-context.contract.ts';
import { FakeExchange } from '../../kernel/fake-exchange.contract.ts';
import { publishChange, publishTask, routeTask } from './route-task.ts';
import { PublicIds } from './public-ids.ts';

const RELATED = 'io.modelcontextprotocol/related-task';
const state = (taskId: string): TaskState => ({
  taskId,
  status: 'working',
  createdAt: '',
  lastUpdatedAt: '',
  ttlMs: 1,
});

function setUp(handle: (exchange: Exchange) => JsonObject | Promise<JsonObject> = () => ({})) {
  const ids = new PublicIds(createSealer(), 'task');
  const target = new FakeTarget(handle);
  target.offered = { tasks: {} };
  const member = { name: 'srv', target };
  const created = publishTask(new FakeExchange('tools/call', { name: 'copy' }), member, ids, { task: state('t') });
  const { taskId } = fieldOf(created, 'task') as TaskState;
  const send = (method: string, params: JsonObject = { taskId }, principal = 'alice') =>
    routeTask(new FakeExchange(method, params, { principal }), [member], ids);
  return { ids, target, member, taskId, send };
}

describe('a task', () => {
  it('a task has a stable public id', () => {
    const { ids, member, taskId } = setUp();
    expect(taskId).not.toContain('"t"');
    expect(ids.open(taskId, 'alice')).toEqual({ server: 'srv', id: 't', tool: 'copy', rules: undefined });
    expect(ids.publish('srv', 't', 'alice')).toBe(taskId);
    const result = { content: [] };
    expect(publishTask(new FakeExchange('tools/call'), member, ids, result)).toBe(result);
  });

  it('a task keeps its public id when another process uses the same id', () => {
    const { ids, member, taskId } = setUp();
    const others = ids.publish('srv', 't', 'bob');
    expect(ids.publish('srv', 't', 'alice')).toBe(taskId);
    expect(ids.publish('srv', 't', 'bob')).toBe(others);
    const told = publishChange({ kind: 'task', task: state('t'), principal: 'alice' }, member, ids);
    expect(told).toMatchObject({ task: { taskId } });
  });

  it("requests use the server's id of a task, and answers the public one", async () => {
    const { send, target, taskId } = setUp(({ params }) => ({
      ...params,
      status: 'working',
      _meta: { [RELATED]: { taskId: 't' }, other: 1 },
    }));
    expect(await send('tasks/get')).toEqual({
      taskId,
      status: 'working',
      _meta: { [RELATED]: { taskId }, other: 1 },
    });
    expect(target.seen[0]!.params).toEqual({ taskId: 't' });
  });

  it('a question of a task carries the public id', async () => {
    const params = { message: 'Sure?', _meta: { [RELATED]: { taskId: 't' } } };
    const { ids, member, taskId } = setUp(async (exchange) => exchange.ask({ method: 'elicitation/create', params }));
    const exchange = new FakeExchange('tasks/result', { taskId });
    await routeTask(exchange, [member], ids);
    expect((exchange.sent[0] as Ask).params).toEqual({ message: 'Sure?', _meta: { [RELATED]: { taskId } } });
  });

  it('a task is unknown to other clients', async () => {
    const { send, taskId, target } = setUp();
    const unknown = { code: 'TASK_NOT_FOUND' };
    await expect(send('tasks/get', { taskId }, 'bob')).rejects.toMatchObject(unknown);
    await expect(send('tasks/get', { taskId: 't' })).rejects.toMatchObject(unknown);
    await expect(send('tasks/cancel', { taskId: 7 })).rejects.toMatchObject(unknown);
    await expect(send('tasks/update', {})).rejects.toMatchObject(unknown);
    expect(target.seen).toEqual([]);
  });

  it('a task that the server has forgotten is unknown', async () => {
    const { send, taskId } = setUp(() => {
      throw new GatewayError('TASK_NOT_FOUND', { taskId: 't' });
    });
    await expect(send('tasks/get')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND', details: { taskId } });
  });

  it('a task is listed only for its client, even if the server lists more', async () => {
    const { send, taskId } = setUp(() => ({ tasks: [state('t'), state('of another')], nextCursor: 'next' }));
    expect(await send('tasks/list', {})).toEqual({ tasks: [state(taskId)], nextCursor: 'next' });
    expect(await send('tasks/list', {}, 'bob')).toEqual({ tasks: [], nextCursor: 'next' });
  });

  it('a task is listed with the `_meta` and the fields that all servers agree on', async () => {
    const { ids, member, taskId } = setUp(() => ({ _meta: { a: 1, both: 1 }, acme: [1], tasks: [state('t')] }));
    const list = (members: (typeof member)[]) => routeTask(new FakeExchange('tasks/list', {}), members, ids);
    expect(await list([member])).toEqual({ _meta: { a: 1, both: 1 }, acme: [1], tasks: [state(taskId)] });
    const other = setUp(() => ({ _meta: { b: 2, both: 1 }, tasks: [], nextCursor: 'next' })).member;
    expect(await list([member, other])).toEqual({ _meta: { both: 1 }, tasks: [state(taskId)] });
  });

  it('tasks cannot be listed if no server has tasks', async () => {
    const { send, target } = setUp();
    target.offered = {};
    await expect(send('tasks/list', {})).rejects.toMatchObject({ code: 'METHOD_NOT_FOUND' });
  });

  it('a changed task is reported to its client under the public id', () => {
    const { ids, member, taskId } = setUp();
    const change = { kind: 'task' as const, task: state('t'), principal: 'alice' };
    expect(publishChange(change, member, ids)).toEqual({ ...change, task: state(taskId) });
    expect(publishChange({ ...change, principal: 'bob' }, member, ids)).toBeUndefined();
    expect(publishChange({ ...change, task: state('other') }, member, ids)).toBeUndefined();
  });
});
