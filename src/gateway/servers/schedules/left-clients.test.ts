import { expect, test } from 'vitest';
import { World, settled } from './world.contract.ts';

test('nothing is kept for a client that leaves while its connection opens', async () => {
  const world = new World({ wire: 'stdio', onCancel: 'never answers', share: 'auto' });
  const stays = world.connect('session', 'bob');
  world.call(stays, 'report');
  await settled();
  const open = () => world.servers.all.filter((one) => !one.isClosed).length;
  const before = open();
  const leaves = world.connect('asked session', 'alice');
  world.call(leaves, 'report');
  world.disconnect(leaves);
  for (let turn = 0; turn < 20; turn++) await settled();
  expect(world.calls.at(-1)).toMatchObject({ isSettled: true });
  expect(open()).toBe(before);
  await world.end();
  expect(world.problems).toEqual([]);
});
