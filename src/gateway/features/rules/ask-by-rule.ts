// Asks a person because a rule says so, by the same means as the step `approve`.
import type { Outcome, StepExchange } from '../../../kernel/step.ts';
import { CALL_TOOL } from '../../../kernel/methods.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { respond } from '../../chain/outcome.ts';
import { DEFAULT_MESSAGE, Approvals } from '../approve/approvals.ts';
import { notApproved } from '../approve/approve.ts';
import type { Use } from './judge.ts';

const MESSAGES = {
  tool: DEFAULT_MESSAGE,
  prompt: 'Use the prompt {tool} of {server}?\n\n{arguments}',
  resource: 'Read {tool} of {server}?',
} as const;
const TIMEOUT_MS = 600_000;

export class AskByRule {
  readonly #clock: Clock;
  readonly #approvals: Partial<Record<Use['kind'], Approvals>> = {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Continues only after a yes. */
  async ask(use: Use, exchange: StepExchange, goOn: () => Promise<Outcome>): Promise<Outcome> {
    const { kind, name, origin } = use;
    const refusal = await this.#approvalsOf(kind).ask({ name, origin }, exchange);
    if (refusal === undefined) return goOn();
    if (exchange.method === CALL_TOOL) return respond(notApproved(name, refusal));
    throw new GatewayError('NOT_APPROVED', { what: name });
  }

  #approvalsOf(kind: Use['kind']): Approvals {
    const message = kind === 'other' ? DEFAULT_MESSAGE : MESSAGES[kind];
    return (this.#approvals[kind] ??= new Approvals({
      message,
      remember: undefined,
      timeoutMs: TIMEOUT_MS,
      clock: this.#clock,
    }));
  }
}
