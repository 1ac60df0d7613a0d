// What every store must keep when many want the same at once: within one process here, through two handles on the same
// data where the store has them. tests/integration/flow-store-processes.test.ts does it with processes of their own.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Header } from '../journal.ts';
import { answer, header, MANY, start } from './store-samples.contract.ts';
import type { StoreUnderTest } from './store.contract.ts';
import { isEnded } from '../header.ts';
import type { SessionChange, FlowStore } from './store.ts';

export function keepsItsWordInRaces(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`${name}: many at once`, () => {
    let subject: StoreUnderTest;
    let other: FlowStore;
    beforeEach(async () => {
      subject = await make();
      other = (await subject.again?.()) ?? subject.store;
    });
    afterEach(async () => {
      await other.close();
      await subject.end();
    });
    const handle = (index: number) => (index % 2 ? other : subject.store);
    const race = <T>(count: number, run: (store: FlowStore, index: number) => Promise<T>) =>
      Promise.all(Array.from({ length: count }, (_, index) => run(handle(index), index)));

    it('one of many commits at the same rev wins, and the others fail', async () => {
      const { id } = await created(subject.store);
      const answers = await race(40, (store, index) =>
        store.commit(id, 1, { patch: { prompts: index }, add: [answer('city', index), answer('twice', index)] }),
      );
      const winner = answers.findIndex(({ ok }) => ok);
      expect(answers.filter(({ ok }) => ok)).toEqual([{ ok: true, rev: 2 }]);
      const { header: found, entries } = (await other.load(id))!;
      expect(found).toMatchObject({ rev: 2, prompts: winner });
      expect(entries).toEqual([start, answer('city', winner), answer('twice', winner)]);
      for (const answered of answers) if (!answered.ok) expect(answered.header).toEqual(found);
    });

    it('nothing that was acknowledged is lost or doubled', async () => {
      const { id } = await created(subject.store);
      await race(8, async (store, worker) => {
        for (let count = 0; count < 10; count++) await append(store, id, `${worker}.${count}`);
      });
      const { header: found, entries } = (await subject.store.load(id))!;
      expect(found.rev).toBe(81);
      const keys = entries.slice(1).map((entry) => 'k' in entry && entry.k);
      expect(new Set(keys).size).toBe(80);
      expect(keys).toHaveLength(80);
    });

    it('one of many makes the session', async () => {
      const made = header();
      const answers = await race(20, (store) => store.create(made, [start], MANY));
      expect(answers.toSorted()).toEqual([...Array<string>(19).fill('exists'), 'ok']);
      expect((await other.load(made.id))!.entries).toEqual([start]);
    });

    it('two cannot both be the last within a limit', async () => {
      const perPrincipal = await race(30, (store) => store.create(header(), [], { perPrincipal: 5, total: 100 }));
      expect(perPrincipal.filter((answered) => answered === 'ok')).toHaveLength(5);
      expect(perPrincipal.filter((answered) => answered === 'limit')).toHaveLength(25);
      const total = await race(30, (store, index) =>
        store.create(header({ principal: `p${index}` }), [], { perPrincipal: 5, total: 12 }),
      );
      expect(total.filter((answered) => answered === 'ok')).toHaveLength(7);
    });

    it('limits come out right when sessions end and begin together', async () => {
      const limits = { perPrincipal: 6, total: 6 };
      await race(6, async (store) => {
        for (let count = 0; count < 8; count++) {
          const made = header();
          expect(await store.create(made, [], limits)).toBe('ok');
          if (count % 3 === 0) await store.drop(made.id);
          else await store.commit(made.id, 1, { patch: { state: 'completed' } });
        }
      });
      const after = await race(10, (store) => store.create(header(), [], limits));
      expect(after.filter((answered) => answered === 'ok')).toHaveLength(6);
    });

    it('one of many gets the lease, and only the newest fence commits', async () => {
      const { id } = await created(subject.store);
      const leases = await race(20, (store, index) => store.lease(id, `owner${index}`, 60_000));
      expect(leases.filter(Boolean)).toHaveLength(1);
      const owner = `owner${leases.findIndex(Boolean)}`;
      const again = await race(10, (store) => store.lease(id, owner, 60_000));
      const fences = again.map((lease) => lease!.fence);
      expect(new Set(fences).size).toBe(10);
      const newest = Math.max(...fences);
      const commits = await race(10, (store, index) => store.commit(id, 1, { patch: {}, fence: fences[index]! }));
      expect(commits.map(({ ok }) => ok)).toEqual(fences.map((fence) => fence === newest));
    });

    it('one of many spends a turn', async () => {
      const spent = await race(30, (store) => store.spend('session_a', 3, 60_000));
      expect(spent.filter(Boolean)).toHaveLength(1);
    });

    it('a commit and the end of the session do not mix', async () => {
      const { id } = await created(subject.store);
      const answers = await race(20, (store, index) =>
        index === 10
          ? store.commit(id, 1, { patch: { state: 'cancelled' } })
          : store.commit(id, 1, { patch: { state: 'waiting_user' }, add: [answer('city', index)] }),
      );
      expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
      const { header: found, entries } = (await other.load(id))!;
      expect(entries).toHaveLength(found.state === 'cancelled' ? 0 : 2);
    });

    it('a session is read as it was at one moment, whatever is written meanwhile', async () => {
      const { id, principal } = await created(subject.store);
      const write = async () => {
        for (let rev = 1; rev <= 60; rev++) await subject.store.commit(id, rev, grownTo(rev + 1));
        await subject.store.commit(id, 61, { patch: { state: 'completed' } });
      };
      await whileIt(write(), () => expectWhole(other, { id, principal }));
    });
  });
}

/** A session that grows by these is as long as its rev says, and asks for it. */
export function grownTo(rev: number): SessionChange {
  return { patch: { current: [rev] }, add: [answer(`a${rev}`, rev)] };
}

/** For one that was made by `grownTo`. */
export async function expectWhole(
  store: FlowStore,
  { id, principal }: Pick<Header, 'id' | 'principal'>,
): Promise<void> {
  const { header: loaded, entries } = (await store.load(id))!;
  const listed = (await store.list(principal)).filter((one) => one.id === id);
  expect(entries).toHaveLength(isEnded(loaded) ? 0 : loaded.rev);
  for (const { rev, current, state } of [loaded, ...listed]) expect(current).toEqual(isEnded({ state }) ? [] : [rev]);
}

/** Reads over and over until it is done, and lets others have their turn in between. */
export async function whileIt<T>(works: Promise<T>, read: () => Promise<void>): Promise<T> {
  const done = works.then(
    () => true,
    () => true,
  );
  const notYet = () => new Promise<boolean>((resolve) => setImmediate(resolve, false));
  for (let over = false; !over; over = await Promise.race([done, notYet()])) await read();
  return works;
}

async function created(store: FlowStore): Promise<Header> {
  const made = header({ current: [1] });
  expect(await store.create(made, [start], MANY)).toBe('ok');
  return made;
}

/** Adds one entry, however often others come between. */
async function append(store: FlowStore, id: string, k: string): Promise<void> {
  let rev = (await store.load(id))!.header.rev;
  for (;;) {
    const answered = await store.commit(id, rev, { patch: {}, add: [answer(k, 1)] });
    if (answered.ok) return;
    rev = answered.header!.rev;
  }
}
