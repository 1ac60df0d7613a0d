// Calls that go on as tasks: asked for in 2025-11-25, given by the server in 2026-07-28.
import { eraOf } from '../revisions.mjs';
import { atGate, use } from './parts.mjs';

const isOf =
  (revision) =>
  ({ client, server }) =>
    [client, server].every((end) => end.revision === revision);

function idOf({ result }) {
  return result.task?.taskId ?? result.taskId;
}

async function begin(stage, client, gate) {
  const [method, params] = use(client, [`gate:${gate}`]);
  const call = client.start(method, {
    ...params,
    ...(eraOf(client.revision) === 'handshake' && { task: { ttl: 60_000 } }),
  });
  const taskId = idOf(await call.done);
  await atGate(stage, gate, call.tag);
  return taskId;
}

/** How often it asks depends on the time, so only what came of it is looked at. */
const BY_EXT_TASKS = {
  name: 'a task that ext-tasks follows',
  hasTasks: true,
  isForPeers: true,
  isAlone: true,
  only: ({ client }) => client.peer === 'SDK v2' && client.revision === '2025-11-25',
  async play({ a, b, tape }) {
    const [, { name, arguments: args }] = use(a, ['progress']);
    await Promise.all([a, b].map((client) => client.request('tools/list')));
    await Promise.all([a, b].map((client) => client.runTask(name, args)));
    tape.mark('settled');
  },
  check(tape) {
    const outcomes = tape.filter(({ event }) => event === 'outcome');
    const isRight = ({ tag, kind, text }) => kind === 'task' && text.includes(`"text":"${tag} `);
    return [
      ...(outcomes.length === 2 ? [] : [`${outcomes.length} outcomes of two tasks`]),
      ...outcomes
        .filter((one) => !isRight(one))
        .map(({ tag, kind, text }) => `the outcome of ${tag} is ${kind}: ${text}`),
    ];
  },
};

const BY_HAND = ['2025-11-25', '2026-07-28'].flatMap((revision) => [
  {
    name: `a task of ${revision}: get, result`,
    hasTasks: true,
    only: isOf(revision),
    async play(stage) {
      const { a, b, server } = stage;
      const taskId = await begin(stage, a, 'task a');
      const beside = await begin(stage, b, 'task b');
      await a.request('tasks/get', { taskId }, { token: false });
      server.open('task a');
      server.open('task b');
      for (const [client, id] of [
        [a, taskId],
        [b, beside],
      ]) {
        if (revision === '2025-11-25') await client.request('tasks/result', { taskId: id }, { token: false });
        await client.request('tasks/get', { taskId: id }, { token: false });
      }
      // One that another client has made is not there.
      await b.request('tasks/get', { taskId: 'task-of-nobody' }, { token: false });
    },
  },
  {
    name: `a task of ${revision}: cancel`,
    hasTasks: true,
    only: isOf(revision),
    async play(stage) {
      const { a, b, server } = stage;
      const taskId = await begin(stage, a, 'task a');
      const beside = await begin(stage, b, 'task b');
      await a.request('tasks/cancel', { taskId }, { token: false });
      await a.request('tasks/get', { taskId }, { token: false });
      await b.request('tasks/get', { taskId: beside }, { token: false });
      server.open('task a');
      server.open('task b');
    },
  },
]);

export const TASKS = [...BY_HAND, BY_EXT_TASKS];
