// Answers that come with requests: `inputResponses` of calls and of tasks, and responses of MCP Flow.
import type { Answer, Json } from '../http-wire.ts';
import { until } from '../until.ts';
import { accept, newMark, otherKind } from './cell.ts';
import type { Channel, Tool } from './cell.ts';
import { FORMS, expired } from './forms.ts';
import { guard } from './guard.ts';
import type { Who } from './guard.ts';

const call = async (who: Who, params: Json): Promise<Answer> =>
  (await guard.ask(who, 'tools/call', params, FORMS)).json;

async function suspended(tool: Tool) {
  const mark = newMark();
  const params = { name: tool, arguments: { mark } };
  const { result } = await call('ann', params);
  const [key] = Object.keys(result!['inputRequests'] as Json) as [string];
  const retry = { ...params, requestState: result!['requestState'], inputResponses: { [key]: accept(tool) } };
  return { mark, params, key, retry };
}

export const responses: Channel = {
  tools: ['wipe', 'ship'],
  async honest(tool) {
    const { mark, retry } = await suspended(tool);
    return [mark, await call('ann', retry)];
  },
  attacks: {
    async before(tool) {
      const [first, mark] = [await suspended(tool), newMark()];
      const keys = [first.key, 'approve', 'sure', 'sure~1', 'ask-1', 'q1'];
      const inputResponses = Object.fromEntries(keys.map((key) => [key, accept(tool)]));
      const told = await call('ann', { name: tool, arguments: { mark }, inputResponses });
      return { never: [first.mark, mark], told: [told] };
    },
    async twice(tool) {
      const { mark, retry } = await suspended(tool);
      await call('ann', retry);
      return { once: [mark], never: [], told: [await call('ann', retry)] };
    },
    async other(tool) {
      const { mark, retry } = await suspended(tool);
      return { never: [mark], told: [await call('bob', retry)] };
    },
    async unproven(tool) {
      const [mark, other] = [newMark(), await suspended(tool)];
      const inputResponses = { [other.key]: accept(tool), sure: accept(tool), approve: accept(tool) };
      return { never: [mark], told: [await call('bob', { name: tool, arguments: { mark }, inputResponses })] };
    },
    async late() {
      const { mark, retry } = await suspended('burn');
      await expired();
      return { never: [mark], told: [await call('ann', retry)] };
    },
    async swapped(tool) {
      const [first, second] = [await suspended(tool), await suspended(tool)];
      const { requestState, inputResponses } = first.retry;
      const told = [
        await call('ann', { ...second.params, requestState, inputResponses }),
        await call('ann', { ...second.params, name: otherKind(tool), requestState, inputResponses }),
        await call('ann', { ...second.retry, inputResponses: { other: accept(tool) } }),
      ];
      return { never: [first.mark, second.mark], told };
    },
  },
};

const FOLLOWS = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const onTask = async (who: Who, method: string, params: Json): Promise<Answer> =>
  (await guard.ask(who, method, params, FOLLOWS)).json;

interface Task {
  taskId: unknown;
  mark: string;
  key: string;
}

/** A task that waits for its answer. */
async function task(who: Who = 'ann', more: Json = {}): Promise<Task> {
  const mark = newMark();
  const started = await onTask(who, 'tools/call', { name: 'haul', arguments: { mark }, ...more });
  const taskId = started.result?.['taskId'];
  const { result } = await stateOf(who, taskId, 'input_required');
  return { taskId, mark, key: Object.keys(result!['inputRequests'] as Json)[0]! };
}

const stateOf = (who: Who, taskId: unknown, status: string): Promise<Answer> =>
  until(`a task that is ${status}`, async () => {
    const state = await onTask(who, 'tasks/get', { taskId });
    const now = state.result?.['status'];
    if (now === 'completed' && status !== now) throw new Error(`it did its deed: ${JSON.stringify(state)}`);
    return now === status ? state : undefined;
  });
const update = (who: Who, { taskId, key }: Task, given = accept('haul')): Promise<Answer> =>
  onTask(who, 'tasks/update', { taskId, inputResponses: { [key]: given } });

export const tasks: Channel = {
  tools: ['haul'],
  async honest() {
    const given = await task();
    await update('ann', given);
    return [given.mark, await stateOf('ann', given.taskId, 'completed')];
  },
  attacks: {
    async before() {
      const early = await task('ann', { inputResponses: { sure: accept('haul'), 'sure~1': accept('haul') } });
      return { never: [early.mark], told: [await stateOf('ann', early.taskId, 'input_required')] };
    },
    async twice() {
      const [first, second] = [await task(), await task()];
      for (let times = 0; times < 2; times++) await update('ann', first);
      const told = await stateOf('ann', first.taskId, 'completed');
      await update('ann', first);
      return { once: [first.mark], never: [second.mark], told: [told] };
    },
    async other() {
      const mine = await task();
      return { never: [mine.mark], told: [await update('bob', mine)] };
    },
    async unproven() {
      const own = await task('bob');
      return { never: [own.mark], told: [await update('bob', own)] };
    },
    async late() {
      const given = await task();
      await onTask('ann', 'tasks/cancel', { taskId: given.taskId });
      await update('ann', given);
      return { never: [given.mark], told: [await stateOf('ann', given.taskId, 'cancelled')] };
    },
    async swapped() {
      const [first, second] = [await task(), await task()];
      await update('ann', { ...second, key: 'other' });
      await update('ann', first, accept('wipe'));
      const told = [await stateOf('ann', first.taskId, 'input_required')];
      return { never: [first.mark, second.mark], told };
    },
  },
};

const PLAYS = { experimental: { interactive: true } };
const play = async (who: Who, method: string, params: Json): Promise<Answer> =>
  (await guard.ask(who, `interaction.${method}`, params, PLAYS)).json;

async function session(who: Who, toolName: Tool, more: Json = {}) {
  const mark = newMark();
  const started = await play(who, 'start', { toolName, initialParams: { mark, ...more } });
  const { sessionId, initialPrompt, next } = started.result as Record<string, Json>;
  const prompt = initialPrompt ?? (next?.['prompt'] as Json | undefined);
  const promptId = prompt?.['promptId'] ?? 'approve~1';
  const respond = (by = who, about: Json = {}): Promise<Answer> =>
    play(by, 'respond', { sessionId, promptId, response: { value: true }, ...about });
  return { mark, sessionId, promptId, started, respond };
}

export const sessions: Channel = {
  tools: ['wipe', 'ship'],
  async honest(tool) {
    const { mark, respond } = await session('ann', tool);
    return [mark, await respond()];
  },
  attacks: {
    async before(tool) {
      const response = { value: true };
      const early = await play('ann', 'respond', { sessionId: 'session_AAAAAAAA', promptId: 'sure~1', response });
      const { mark, started } = await session('ann', tool, { sure: true, approve: true });
      return { never: [mark], told: [early, started] };
    },
    async twice(tool) {
      const { mark, respond } = await session('ann', tool);
      await respond();
      return { once: [mark], never: [], told: [await respond()] };
    },
    async other(tool) {
      const { mark, respond } = await session('ann', tool);
      return { never: [mark], told: [await respond('bob')] };
    },
    async unproven(tool) {
      const { mark, sessionId, respond } = await session('bob', tool);
      const lying = { _meta: { 'mcp-parley/unproven': false } };
      const told = [await respond(), await respond('bob', lying)];
      if (tool === 'ship') told.push(await play('bob', 'edit', { sessionId, key: 'sure', value: true }));
      return { never: [mark], told };
    },
    async late(tool) {
      const [given, burn] = [await session('ann', tool), await session('ann', 'burn')];
      await play('ann', 'cancel', { sessionId: given.sessionId });
      await expired();
      return { never: [given.mark, burn.mark], told: [await given.respond(), await burn.respond()] };
    },
    async swapped(tool) {
      const [first, second] = [await session('ann', tool), await session('ann', otherKind(tool))];
      const told = await first.respond('ann', { promptId: second.promptId });
      return { never: [first.mark, second.mark], told: [told] };
    },
  },
};
