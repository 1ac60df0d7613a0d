// Pairs that cannot work, and why; the first match is what the client gets. Each is played anyway and must fail for its
// reason: one that works is not an exemption.
import type { FlowName } from './cells.ts';
import type { StoreName } from './stores.ts';
import type { ClientKind } from '../../../src/testing/as-client/client-profiles.ts';

export interface Exemption {
  mark: string;
  flows?: readonly FlowName[];
  kinds: readonly ClientKind[];
  stores?: readonly StoreName[];
  why: string;
  /** The expected error. */
  told: RegExp;
}

export const EXEMPTIONS: readonly Exemption[] = [
  {
    mark: 'a',
    kinds: ['form', 'plain-form', 'task', 'page', 'relay'],
    stores: ['token'],
    why: 'the call or its task waits at the server, so its session is kept there meanwhile',
    told: /^Rate limit exceeded: (too many sessions|no more than \d+ sessions)/,
  },
  {
    mark: 'b',
    flows: ['register', 'import'],
    kinds: ['input-required'],
    stores: ['token'],
    why: 'our page is where they are asked, and while it is open the session is kept',
    told: /^Rate limit exceeded: (too many sessions|no more than \d+ sessions)/,
  },
  {
    mark: 'c',
    flows: ['register'],
    kinds: ['relay', 'arguments'],
    why: 'a password goes through no model, neither in words nor as an argument',
    told: /^Only the user can answer this.*\n- password/,
  },
  {
    mark: 'd',
    flows: ['deploy'],
    kinds: ['relay', 'arguments'],
    why: 'the consent must be a person’s own word',
    told: /^Only the user can answer this.*\n- agreed/,
  },
  {
    mark: 'e',
    flows: ['import'],
    kinds: ['relay'],
    why: 'a file cannot be said in words; it can be an argument',
    told: /^This client cannot be asked.*\n- table/,
  },
];

export function exemptionOf(cell: { flow: FlowName; kind: ClientKind; store: StoreName }): Exemption | undefined {
  return EXEMPTIONS.find(
    ({ flows, kinds, stores }) =>
      kinds.includes(cell.kind) &&
      (flows === undefined || flows.includes(cell.flow)) &&
      (stores === undefined || stores.includes(cell.store)),
  );
}
