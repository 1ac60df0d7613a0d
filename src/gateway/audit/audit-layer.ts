// Records each call of a client with its outcome and duration. It stands before all other layers, so it sees what the client gets. What is
// learned on the way is collected in the exchange: the server's own name (`audited`), the decision of a rule (`decision`). The first answer
// of a call that waits for a person is only a question: such a call is recorded when it really ends (`audited.ending`).
import type { AuditedCall, RecordAudit } from '../../protocol/audit.ts';
import type { Exchange } from '../../protocol/exchange.ts';
import { TargetLayer } from '../../protocol/layer.ts';
import { isObject } from '../../protocol/message.ts';
import { fieldOf } from '../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import { readSuspended } from '../../protocol/suspended-call.ts';
import { hasEnded } from '../../protocol/target.ts';
import type { HandleResult, Target, TaskState } from '../../protocol/target.ts';
import { loggedPrincipal } from '../../shared/anonymous.ts';
import { ticksOf } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';
import { toShape } from './argument-shape.ts';

/** Requests that only look. Everything else is recorded, methods that only a server knows included. */
const QUIET: ReadonlySet<string> = new Set([
  'capabilities',
  'completion/complete',
  'initialize',
  'interaction.getState',
  'logging/setLevel',
  'ping',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'server/discover',
  'subscriptions/listen',
  'tasks/get',
  'tasks/list',
  'tools/list',
]);

export interface AuditLayerOptions {
  record: RecordAudit;
  clock: Clock;
  /** Shows the arguments in the log; default: only their shapes. */
  showArguments?: ((given: unknown) => unknown) | undefined;
}

export class AuditLayer extends TargetLayer {
  readonly #options: AuditLayerOptions;

  constructor(target: Target, options: AuditLayerOptions) {
    super(target);
    this.#options = options;
  }

  override handle(exchange: Exchange): HandleResult {
    if (QUIET.has(exchange.method)) return this.target.handle(exchange);
    const { params } = exchange; // later ones may carry the server's names
    const begun = ticksOf(this.#options.clock);
    exchange.audited = {};
    let answer: HandleResult;
    try {
      answer = this.target.handle(exchange);
    } catch (thrown) {
      this.#end(exchange, { params, begun, outcome: outcomeOf(thrown) });
      throw thrown;
    }
    const ended = (result: ResultObject): void => settle(toOutcome(result, exchange));
    const failed = (thrown: unknown): void => settle(outcomeOf(thrown));
    const settle = (outcome: string): void => {
      const ending = takeEnding(exchange);
      if (ending) ending.then(ended, failed);
      else this.#end(exchange, { params, begun, outcome });
    };
    if (answer instanceof Promise) answer.then(ended, failed);
    else ended(answer);
    return answer;
  }

  #end(exchange: Exchange, { params, begun, outcome }: EndedCall): void {
    const { record, clock, showArguments = toShape } = this.#options;
    const { id, method, client, server, audited, decision } = exchange;
    const shown = toName(params);
    const { params: sent = params }: AuditedCall = audited ?? {};
    const name = toName(sent);
    const given = params.arguments;
    record({
      kind: 'call',
      exchange: id,
      principal: loggedPrincipal(client.principal),
      server,
      method,
      name,
      decision,
      outcome,
      ms: Math.round((ticksOf(clock) - begun) * 10) / 10,
      details: {
        client: client.info.name,
        ...(name !== shown && shown !== undefined && { as: shown }),
        ...(given !== undefined && { arguments: showArguments(given) }),
      },
    });
  }
}

interface EndedCall {
  params: Exchange['params'];
  begun: number;
  outcome: string;
}

function toName({ name, uri, toolName }: Exchange['params']): string | undefined {
  const named = name ?? uri ?? toolName;
  return typeof named === 'string' ? named : undefined;
}

function takeEnding({ audited }: Exchange): Promise<ResultObject> | undefined {
  const ending = audited?.ending;
  if (ending) audited.ending = undefined;
  return ending;
}

/** Questions and tasks are no results yet. */
function toOutcome(result: ResultObject, { task: allowed }: Exchange): string {
  if (fieldOf(result, 'isError') === true) return 'tool_error';
  if (readSuspended(result)) return 'input_required';
  const task = allowed && fieldOf(result, 'task');
  return isObject(task) && !hasEnded(task as unknown as TaskState) ? 'working' : 'ok';
}

function outcomeOf(thrown: unknown): string {
  if (thrown instanceof ProtocolError) return `server_error ${thrown.code}`;
  return thrown instanceof GatewayError ? thrown.code : 'INTERNAL';
}
