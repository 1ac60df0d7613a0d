// What `parley serve` adds to the options that a configuration has for a gateway, at the start and whenever the file changes: lines about calls, how a
// person is told, the login where it listens, and the audit log of this user.
import type { GatewayUpdate } from '../../../config/apply/apply-config.ts';
import { ServeAudit } from '../../../gateway/features/audit/own-audit.ts';
import type { GatewayChanges, GatewayOptions } from '../../../gateway/gateway-options.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { loadFrontEngine } from '../../../mcp/listen/auth/auth-options.ts';
import { CallLog } from '../../serving/call-log.ts';
import { tellPerson } from '../../serving/tell-person.ts';
import { loginOf } from './serving.ts';
import type { ServePlan } from './serving.ts';

type Steps = NonNullable<GatewayOptions['steps']>;

export class OwnOptions {
  readonly #plan: ServePlan;
  readonly #audit: ServeAudit;
  readonly #calls: Steps;
  readonly #notify = tellPerson();

  private constructor(plan: ServePlan, audit: ServeAudit) {
    this.#plan = plan;
    this.#audit = audit;
    this.#calls = plan.command.logCalls ? [new CallLog().step] : [];
  }

  static async open(plan: ServePlan, log: Log): Promise<OwnOptions> {
    return new OwnOptions(plan, await ServeAudit.open(plan.found.config, log));
  }

  /** With what the file says. */
  first({ steps = [], ask }: GatewayOptions): Pick<GatewayOptions, 'steps' | 'ask' | 'auth' | 'audit'> {
    return { steps: this.#withCalls(steps), ask: this.#withNotify(ask), auth: this.#plan.auth, ...this.#audit.options };
  }

  /** Updates the gateway to a changed file. Whole or not at all. */
  async update(gateway: { update(changes: GatewayChanges): void }, changes: GatewayUpdate): Promise<void> {
    const { audit: wanted, ...next } = changes;
    if (next.auth?.front) await loadFrontEngine();
    const audit = 'audit' in changes ? await this.#audit.replace(wanted) : undefined;
    try {
      gateway.update({
        ...next,
        ...(audit && this.#audit.options),
        ...(next.auth && { auth: loginOf(this.#plan, next) }),
        ...('ask' in next && { ask: this.#withNotify(next.ask) }),
        ...(next.steps && { steps: this.#withCalls(next.steps) }),
      });
    } catch (thrown) {
      await audit?.undo();
      throw thrown;
    }
    await audit?.keep();
  }

  close(): Promise<void> {
    return this.#audit.close();
  }

  /** The call log is the outermost step. */
  #withCalls(steps: Steps): Steps {
    return [...this.#calls, ...steps];
  }

  #withNotify(ask: GatewayOptions['ask']): GatewayOptions['ask'] {
    return { ...ask, notify: this.#notify };
  }
}
