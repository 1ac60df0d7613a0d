// What every store must keep, run by the test of each one against a real instance. Nothing here knows how a store works, or
// moves its clock: where time has to pass, spans are short and the test waits for what must follow.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { header, MANY, start } from './store-samples.contract.ts';
import { canBeBrowsed } from './store-browsing.contract.ts';
import { keepsSessions } from './store-sessions.contract.ts';
import { keepsBlobs } from './store-blobs.contract.ts';
import { keepsLeases } from './store-leases.contract.ts';
import { keepsLimits } from './store-limits.contract.ts';
import { keepsSpentTokens } from './store-spent.contract.ts';
import { keepsUpkeep } from './store-upkeep.contract.ts';
import { keepsValues } from './store-values.contract.ts';
import type { Header } from '../journal.ts';
import type { FlowStore } from './store.ts';

export interface StoreUnderTest {
  store: FlowStore;
  /** Another handle on the same data, as another process has it. */
  again?: () => Promise<FlowStore>;
  end(): Promise<void>;
}

/** The store of the test at hand. */
export interface Stored {
  readonly store: FlowStore;
  /** A new session in it. */
  stored(over?: Parameters<typeof header>[0]): Promise<Header>;
}

export function keepsTheContract(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`${name}: what every store keeps`, () => {
    let subject: StoreUnderTest;
    let store: FlowStore;
    beforeEach(async () => {
      subject = await make();
      store = subject.store;
    });
    afterEach(() => subject.end());
    const stored = async (over: Parameters<typeof header>[0] = {}) => {
      const made = header(over);
      expect(await store.create(made, [start], MANY)).toBe('ok');
      return made;
    };
    const under: Stored = {
      get store() {
        return store;
      },
      stored,
    };
    keepsSessions(under);
    keepsLeases(under);
    keepsUpkeep(under);
    keepsLimits(under);
    keepsSpentTokens(under);
    keepsBlobs(under);
    keepsValues(under);
    canBeBrowsed(under);

    it('may be closed twice', async () => {
      await store.close();
      await store.close();
    });
  });
}
