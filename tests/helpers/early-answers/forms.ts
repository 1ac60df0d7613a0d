// A form or a link that the client shows, on any transport that has sessions.
import { FakeBrowser, csrfOf } from '../../../src/people/page/fake-round.contract.ts';
import type { Answer, Json } from '../http-wire.ts';
import type { Wire } from '../line-wire.ts';
import { rpc } from '../mcp-http.ts';
import { until } from '../until.ts';
import { accept, newMark, otherKind } from './cell.ts';
import type { Channel, Tool } from './cell.ts';
import { guard } from './guard.ts';
import type { Who } from './guard.ts';

export const FORMS = { elicitation: { form: {} } };
const LINKS = { elicitation: { url: {} } };

interface Asked {
  wire: Wire;
  tool: Tool;
  mark: string;
  call: unknown;
  taskId?: unknown;
  question: Answer;
}

/** How a call begins and is cancelled. */
interface Way {
  /** The id of the request whose answer is the result. */
  begin: (wire: Wire, tool: Tool, mark: string) => Promise<{ call: unknown; taskId?: unknown }>;
  cancel: (given: Asked) => unknown;
}

const CALL: Way = {
  async begin(wire, tool, mark) {
    const call = rpc('tools/call', { name: tool, arguments: { mark } });
    wire.write(call);
    return { call: call['id'] };
  },
  cancel: ({ wire, call }) =>
    wire.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: call } }),
};

/** Tasks of 2025-11-25: questions come while the result is waited for. */
const TASK: Way = {
  async begin(wire, tool, mark) {
    const { result } = await wire.request('tools/call', { name: tool, arguments: { mark }, task: { ttl: 600_000 } });
    const { taskId } = result!['task'] as Json;
    const call = rpc('tasks/result', { taskId });
    wire.write(call);
    return { call: call['id'], taskId };
  },
  cancel: ({ wire, taskId }) => wire.request('tasks/cancel', { taskId }),
};

export async function asked(wire: Wire, tool: Tool, { begin }: Way = CALL): Promise<Asked> {
  const mark = newMark();
  const begun = await begin(wire, tool, mark);
  const question = await wire.find(
    `a question about ${mark}`,
    (message) => message.id === begun.call || isAbout(message, mark),
  );
  if (!isAbout(question, mark)) throw new Error(`not asked: ${JSON.stringify(question)}`);
  return { wire, tool, mark, ...begun, question };
}

const isAbout = (message: Answer, mark: string): boolean =>
  message.method === 'elicitation/create' && JSON.stringify(message).includes(mark);

/** Sends an answer, and waits until it was read. */
export async function answer(wire: Wire, id: unknown, result: Json): Promise<void> {
  wire.write({ jsonrpc: '2.0', id, result });
  await wire.request('ping');
}

async function refuse({ wire, tool, call, question }: Asked): Promise<Answer> {
  await answer(wire, question.id, accept(tool, false));
  return wire.answerTo(call);
}

/** The ids that questions of this connection will have, and others that somebody could think of. */
export function guesses(seen: unknown): unknown[] {
  const [, prefix = '', number = '0'] = /^(.*-)(\w+)$/.exec(String(seen)) ?? [];
  const next = Array.from({ length: 12 }, (_, index) => prefix + (parseInt(number, 36) + 1 + index).toString(36));
  return [...next, ...Array.from({ length: 6 }, (_, index) => index), 'approve', 'sure', 'ask-1', 'q1'];
}

/** Waits until every `burn` that was called before has expired. */
export async function expired(): Promise<Answer> {
  const { wire, call } = await asked(await guard.http('ann', FORMS), 'burn');
  return wire.answerTo(call);
}

export function forms(
  open: (who: Who) => Promise<Wire>,
  unproven?: () => Promise<Wire>,
  { way = CALL, tools = ['wipe', 'ship'] }: { way?: Way; tools?: Tool[] } = {},
): Channel {
  return {
    tools,
    async honest(tool) {
      const { wire, mark, call, question } = await asked(await open('ann'), tool, way);
      await answer(wire, question.id, accept(tool));
      return [mark, await wire.answerTo(call)];
    },
    attacks: {
      async before(tool) {
        const first = await asked(await open('ann'), tool, way);
        const { wire } = first;
        for (const id of guesses(first.question.id)) await answer(wire, id, accept(tool));
        const second = await asked(wire, tool, way);
        for (const one of [first, second]) await refuse(one);
        return { never: [first.mark, second.mark], told: [second.question] };
      },
      async twice(tool) {
        const first = await asked(await open('ann'), tool, way);
        const { wire } = first;
        for (let times = 0; times < 2; times++) await answer(wire, first.question.id, accept(tool));
        await wire.answerTo(first.call);
        const second = await asked(wire, tool, way);
        await answer(wire, first.question.id, accept(tool));
        return { once: [first.mark], never: [second.mark], told: [await refuse(second)] };
      },
      async other(tool) {
        const mine = await asked(await open('ann'), tool, way);
        const thieves = [
          guard.http('ann', FORMS),
          guard.http('bob', FORMS),
          guard.webSocket('bob', FORMS),
          guard.sse('bob', FORMS),
        ];
        for (const thief of thieves) await answer(await thief, mine.question.id, accept(tool));
        await mine.wire.steal?.('bob', { jsonrpc: '2.0', id: mine.question.id, result: accept(tool) });
        return { never: [mine.mark], told: [await refuse(mine)] };
      },
      ...(unproven && {
        async unproven(tool) {
          const [wire, mark] = [await unproven(), newMark()];
          const { call } = await way.begin(wire, tool, mark);
          const told = await wire.answerTo(call);
          for (const id of guesses('ask-1')) await answer(wire, id, accept(tool));
          return { never: [mark], told: [told] };
        },
      }),
      async late(tool) {
        const given = await asked(await open('ann'), tool, way);
        const { wire } = given;
        await way.cancel(given);
        await answer(wire, given.question.id, accept(tool));
        const burn = await asked(wire, 'burn', way);
        const told = await wire.answerTo(burn.call);
        await answer(wire, burn.question.id, accept('burn'));
        return { never: [given.mark, burn.mark], told: [told] };
      },
      async swapped(tool) {
        const wire = await open('ann');
        const [first, second] = [await asked(wire, tool, way), await asked(wire, tool, way)];
        await answer(wire, first.question.id, accept(otherKind(tool)));
        await answer(wire, second.question.id, accept(tool));
        await wire.answerTo(second.call);
        return { once: [second.mark], never: [first.mark], told: [await wire.answerTo(first.call)] };
      },
    },
  };
}

const TASKS = { ...FORMS, tasks: { cancel: {}, requests: { elicitation: { create: {} } } } };
const ofTasks = forms(
  (who) => guard.http(who, TASKS),
  () => guard.http('bob', TASKS),
  { way: TASK, tools: ['haul'] },
);

/** An approval is asked before there is a task, so only `haul` asks in one. */
export const tasksBySession: Channel = {
  ...ofTasks,
  attacks: {
    ...ofTasks.attacks,
    async other(tool) {
      const mine = await asked(await guard.http('ann', TASKS), tool, TASK);
      const thief = await guard.http('bob', TASKS);
      const told: Answer[] = [];
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
        told.push(await thief.request(method, { taskId: mine.taskId! }));
      for (const wire of [thief, await guard.http('ann', TASKS)]) await answer(wire, mine.question.id, accept(tool));
      await mine.wire.steal?.('bob', { jsonrpc: '2.0', id: mine.question.id, result: accept(tool) });
      await refuse(mine);
      return { never: [mine.mark], told };
    },
    async late(tool) {
      const given = await asked(await guard.http('ann', TASKS), tool, TASK);
      await TASK.cancel(given);
      await answer(given.wire, given.question.id, accept(tool));
      return { never: [given.mark], told: [await given.wire.request('tasks/get', { taskId: given.taskId! })] };
    },
    async swapped(tool) {
      const wire = await guard.http('ann', TASKS);
      const [first, second] = [await asked(wire, tool, TASK), await asked(wire, tool, TASK)];
      await answer(wire, first.question.id, accept(otherKind(tool)));
      await answer(wire, second.question.id, accept(tool));
      await wire.answerTo(second.call);
      const again = await wire.find(
        'the question again',
        (message) => isAbout(message, first.mark) && message.id !== first.question.id,
      );
      return { once: [second.mark], never: [first.mark], told: [again] };
    },
  },
};

const linkOf = ({ question }: Asked): string => String(question.params?.['url']);
const OPENED = { action: 'accept' };

export const links: Channel = {
  tools: ['wipe', 'ship'],
  async honest(tool) {
    const given = await asked(await guard.http('ann', LINKS), tool);
    await answer(given.wire, given.question.id, OPENED);
    await new FakeBrowser().fill(linkOf(given), { 'q0.0': 'true' });
    return [given.mark, await given.wire.answerTo(given.call)];
  },
  attacks: {
    async before(tool) {
      const first = await asked(await guard.http('ann', LINKS), tool);
      const { wire } = first;
      for (const id of guesses(first.question.id)) await answer(wire, id, accept(tool));
      const second = await asked(wire, tool);
      // Neither opening the link nor what comes with that is an answer.
      for (const { question } of [first, second]) await answer(wire, question.id, accept(tool));
      wire.write({
        jsonrpc: '2.0',
        method: 'notifications/elicitation/complete',
        params: { elicitationId: second.question.params?.['elicitationId'] },
      });
      await wire.request('ping');
      return { never: [first.mark, second.mark], told: [second.question] };
    },
    async twice(tool) {
      const first = await asked(await guard.http('ann', LINKS), tool);
      await answer(first.wire, first.question.id, OPENED);
      const browser = new FakeBrowser();
      const form = { csrf: csrfOf((await browser.open(linkOf(first))).text), 'q0.0': 'true' };
      await browser.post(linkOf(first), form);
      await first.wire.answerTo(first.call);
      return { once: [first.mark], never: [], told: [(await browser.post(linkOf(first), form)).text] };
    },
    async other(tool) {
      const given = await asked(await guard.http('ann', LINKS), tool);
      for (const thief of [guard.http('ann', LINKS), guard.http('bob', LINKS)])
        await answer(await thief, given.question.id, OPENED);
      await new FakeBrowser().open(linkOf(given));
      const { text } = await new FakeBrowser().fill(linkOf(given), { 'q0.0': 'true' });
      return { never: [given.mark], told: [text] };
    },
    async unproven(tool) {
      const [wire, mark] = [await guard.http('bob', LINKS), newMark()];
      return { never: [mark], told: [await wire.call(tool, { mark })] };
    },
    async late(tool) {
      const given = await asked(await guard.http('ann', LINKS), tool);
      const { wire } = given;
      const browser = new FakeBrowser();
      const csrf = csrfOf((await browser.open(linkOf(given))).text);
      wire.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: given.call } });
      await answer(wire, given.question.id, OPENED);
      const isGone = async () => (await browser.get(linkOf(given))).status >= 400;
      await until('the link to end', isGone);
      return { never: [given.mark], told: [(await browser.post(linkOf(given), { csrf, 'q0.0': 'true' })).text] };
    },
    async swapped(tool) {
      const wire = await guard.http('ann', LINKS);
      const [first, second] = [await asked(wire, tool), await asked(wire, tool)];
      for (const { question } of [first, second]) await answer(wire, question.id, OPENED);
      const browser = new FakeBrowser();
      const csrf = csrfOf((await browser.open(linkOf(first))).text);
      await browser.open(linkOf(second));
      const { text } = await browser.post(linkOf(second), { csrf, 'q0.0': 'true' });
      return { never: [first.mark, second.mark], told: [text] };
    },
  },
};
