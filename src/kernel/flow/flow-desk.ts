// Where the console finds the sessions of interactive tools, and what an operator can do with one. `parley serve` reads the store that `flows` of the
// configuration names; the gateway itself knows nothing of stores.
import type { FlowFilter, FlowView, StoredFlows } from './flow-views.ts';

/** What an operator asks of a session; its server does it. */
export type FlowRequest = { readonly id: string; readonly by: string } & (
  | {
      readonly kind: 'answer';
      readonly promptId: string;
      /** By the names of the fields: what was typed, or the positions of choices. */
      readonly fields: ReadonlyMap<string, readonly string[]>;
    }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'retry' }
);

export interface FlowLook {
  /** People log in at the gateway, so that any session may be one of theirs: answers are not shown, and only they answer. */
  readonly peopleLogIn: boolean;
}

export interface FlowDesk {
  /** Whether there is a store. */
  readonly isThere: boolean;
  list(filter: FlowFilter): Promise<StoredFlows>;
  /** Undefined if there is no such session. */
  find(id: string, look: FlowLook): Promise<FlowView | undefined>;
  /** Throws if that cannot be. */
  ask(request: FlowRequest, look: FlowLook): Promise<void>;
}
