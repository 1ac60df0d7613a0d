// A yes that all gateways with one state remember: for the same principal, the same tool of the same server, and the same question. While the state
// does not answer, people are asked.
import type { Origin, StepExchange } from '../../../kernel/step.ts';
import { isAnonymous } from '../../../kernel/base/anonymous.ts';
import type { State } from '../../../kernel/state/state.ts';
import { ChainExchange } from '../../chain/chain-exchange.ts';

export interface ApprovedThing {
  origin: Pick<Origin, 'server' | 'name'> | undefined;
  /** The question, and how long a yes holds for what. */
  question: string;
  /** Of the arguments. */
  digest: string;
  /** Whether a yes holds for the tool with any arguments. */
  isForTool: boolean;
}

export interface SharedApproval {
  isGiven(): Promise<boolean>;
  give(ms: number): Promise<void>;
}

const SET = 'approvals';

/** Undefined if this gateway shares nothing, or if nobody at another gateway could be the same caller. */
export function sharedApproval(exchange: StepExchange, thing: ApprovedThing): SharedApproval | undefined {
  const { origin, question, digest, isForTool } = thing;
  const state = exchange instanceof ChainExchange ? exchange.chain.state : undefined;
  const { principal } = exchange.client;
  if (!state?.isShared || !origin || isAnonymous(principal)) return undefined;
  const key = JSON.stringify([principal, origin.server, origin.name, question, isForTool ? '' : digest]);
  return { isGiven: () => isThere(state, key), give: (ms) => put(state, { key, ms }) };
}

async function isThere(state: State, key: string): Promise<boolean> {
  try {
    return (await state.get(SET, key)) !== undefined;
  } catch {
    return false; // the state has logged why
  }
}

async function put(state: State, { key, ms }: { key: string; ms: number }): Promise<void> {
  try {
    const known = await state.get(SET, key);
    await state.put(SET, key, '', { version: known?.version ?? 0, ttlMs: ms }); // if another one was faster, it is there
  } catch {
    // The call is approved all the same; the next one asks.
  }
}
