// Tasks of 2025-11-25, between SDK v1 and SDK v1.
const v1 = { only: ({ server, client }) => server === 'v1' && client === 'v1' };

export const TASKS = [
  ['task: created', (peer) => peer.request('tools/call', { name: 'work', arguments: {}, task: { ttl: 60_000 } }), v1],
  ['task: its result', async (peer) => (await finished(peer)).result, v1],
  ['task: its state', async (peer) => (await finished(peer)).state, v1],
  [
    'task: listed',
    async (peer) => {
      await finished(peer);
      const { result } = await peer.request('tasks/list', {});
      return { some: result?.tasks?.length > 0, first: result?.tasks?.[0], members: Object.keys(result ?? {}) };
    },
    v1,
  ],
  ['task: unknown', (peer) => peer.request('tasks/get', { taskId: 'not-there' }), v1],
  [
    'task: cancelled when it has ended',
    async (peer) => {
      const { taskId } = await finished(peer);
      const { error } = await peer.request('tasks/cancel', { taskId });
      return { ...error, message: error?.message.replaceAll(taskId, '<task>') };
    },
    v1,
  ],
];

/** The id as the client knows it, taken from what the SDK gives. */
async function finished(peer) {
  const { task } = await peer.taskOf('work', {});
  const { taskId } = task;
  let state;
  await peer.pollUntil('the end of the task', async () => {
    state = await peer.request('tasks/get', { taskId });
    return state.result?.status === 'completed';
  });
  return { taskId, state, result: await peer.request('tasks/result', { taskId }) };
}
