import { expect, it } from 'vitest';
import { FakeClock } from '../../eras/fake-context.contract.ts';
import type { ForwardOutcome, Nodes } from '../../../kernel/nodes/nodes.ts';
import type { HttpSessionStore } from '../durable/session-store.ts';
import { searchSession } from './search-session.ts';

it('a session is searched no longer once its client has left', async () => {
  const asked: string[] = [];
  const clock = new FakeClock();
  let hasLeft = false;
  const found = searchSession({
    id: 'x.b',
    binding: '',
    nodes: { sessionOwnerOf: () => 'b' } as unknown as Nodes,
    store: { takeOver: () => Promise.resolve({ owner: 'c' }) } as unknown as HttpSessionStore,
    clock,
    isHop: false,
    isSafe: true,
    isOver: () => hasLeft,
    forward(node): Promise<ForwardOutcome> {
      asked.push(node);
      hasLeft = true;
      setImmediate(() => clock.advance(200));
      return Promise.resolve({ kind: asked.length > 1 ? 'answered' : 'unsent' });
    },
    restore: () => {},
  });
  expect(await found).toEqual({ kind: 'answered' });
  expect(asked).toEqual(['b']);
});
