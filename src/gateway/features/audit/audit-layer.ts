// Records each call of a client with its outcome and duration. It wraps all other layers, so it sees what the client gets. What is
// learned on the way is collected in the exchange: the server's own name (`audited`), the decision of a rule (`decision`). The first answer
// of a call that waits for a person is only a question: such a call is recorded when it really ends (`audited.ending`). A call that takes long
// has a line before its end, `running`, so that it is in the log even if the process is killed.
import { nameIn } from '../../../kernel/named-thing.ts';
import type { AuditedCall, RecordAudit } from '../../../kernel/audit.ts';
import type { Exchange } from '../../../kernel/exchange.ts';
import { TargetLayer, readSuspended, hasEnded } from '../../../kernel/target.ts';
import type { HandleResult, Target, TaskState } from '../../../kernel/target.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { methodsWhere } from '../../../kernel/methods.ts';
import { fieldOf } from '../../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import { loggedPrincipal } from '../../../kernel/base/anonymous.ts';
import { ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { LinkedList, LinkedNode } from '../../../kernel/containers/linked-list.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';

/** Requests that only look. Everything else is recorded, methods that only a server knows included. */
const QUIET: ReadonlySet<string> = new Set(methodsWhere(({ quiet }) => quiet));

interface AuditLayerOptions {
  record: RecordAudit;
  clock: Clock;
  /** The server of every call, if there is only one. Default: what the router says. */
  server?: string | undefined;
  /** Shows the arguments in the log; default: only their shapes. */
  showArguments?: ((given: unknown) => unknown) | undefined;
}

/** How often running calls are checked. */
const RUNNING_MS = 5000;

export class AuditLayer extends TargetLayer {
  readonly #options: AuditLayerOptions;
  /** No Set: its old tables would keep calls that have ended, see decision 18. */
  readonly #open = new LinkedList<OpenCall>();
  #isLooking = false;

  constructor(target: Target, options: AuditLayerOptions) {
    super(target);
    this.#options = options;
  }

  override handle(exchange: Exchange): HandleResult {
    if (QUIET.has(exchange.method)) return this.target.handle(exchange);
    const call = new OpenCall(exchange, ticksOf(this.#options.clock));
    exchange.audited = {};
    let answer: HandleResult;
    try {
      answer = this.target.handle(exchange);
    } catch (thrown) {
      this.#record(call, outcomeOf(thrown));
      throw thrown;
    }
    if (answer instanceof Promise) this.#follow(answer, call);
    else this.#record(call, toOutcome(answer, exchange));
    return answer;
  }

  #follow(answer: Promise<ResultObject>, call: OpenCall): void {
    this.#open.add(call);
    if (!this.#isLooking) this.#look();
    this.#await(answer, call);
  }

  #await(answer: Promise<ResultObject>, call: OpenCall): void {
    answer.then(
      (result) => this.#settle(call, toOutcome(result, call.exchange)),
      (thrown: unknown) => this.#settle(call, outcomeOf(thrown)),
    );
  }

  #settle(call: OpenCall, outcome: string): void {
    const ending = takeEnding(call.exchange);
    if (ending) return this.#await(ending, call);
    this.#open.delete(call);
    this.#record(call, outcome);
  }

  #look(): void {
    this.#isLooking = true;
    this.#options.clock.after(RUNNING_MS, () => this.#tellRunning());
  }

  #tellRunning(): void {
    const now = ticksOf(this.#options.clock);
    for (const call of this.#open.values()) {
      if (call.isTold || now - call.begun < RUNNING_MS) continue;
      call.isTold = true;
      this.#record(call, 'running');
    }
    this.#isLooking = false;
    if (!this.#open.isEmpty) this.#look();
  }

  #record({ exchange, params, begun }: OpenCall, outcome: string): void {
    const { record, clock, showArguments = toShape } = this.#options;
    const { id, method, client, audited, decision } = exchange;
    const shown = nameIn(exchange.method, params);
    const { name = shown, findings }: AuditedCall = audited ?? {};
    const given = params.arguments;
    const key = client.connection?.identity?.key;
    const details: JsonObject = { client: client.info.name };
    if (key !== undefined) details.key = key;
    if (name !== shown && shown !== undefined) details.as = shown;
    if (given !== undefined) details.arguments = showArguments(given);
    if (findings) details.findings = findings;
    record({
      kind: 'call',
      exchange: id,
      principal: loggedPrincipal(client.principal),
      server: this.#options.server ?? exchange.server,
      method,
      name,
      decision,
      outcome,
      ms: Math.round((ticksOf(clock) - begun) * 10) / 10,
      details,
    });
  }
}

class OpenCall extends LinkedNode<OpenCall> {
  readonly exchange: Exchange;
  /** The params as they came: later ones may carry the server's names. */
  readonly params: Exchange['params'];
  readonly begun: number;
  /** Whether it has a line already. */
  isTold = false;

  constructor(exchange: Exchange, begun: number) {
    super();
    this.exchange = exchange;
    this.params = exchange.params;
    this.begun = begun;
  }
}

function takeEnding({ audited }: Exchange): Promise<ResultObject> | undefined {
  const ending = audited?.ending;
  if (ending) audited.ending = undefined;
  return ending;
}

/** Questions and tasks are not results yet. */
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

const MAX_NAMES = 20;
const PARAMETER = /^[A-Za-z_][\w.-]{0,39}$/;
const UNNAMED = '*';

/**
 * The shape of arguments: their names, types and sizes, and no values, as in `{ path: 'string(12)', deep: 'object(3)' }`. A name that does not look
 * like that of a parameter may be a value itself, as in a dictionary of addresses, and is not shown either.
 */
export function toShape(given: unknown): unknown {
  if (!isObject(given)) return toType(given);
  const shape: Record<string, string> = {};
  let shown = 0;
  for (const name in given) {
    if (!Object.hasOwn(given, name)) continue;
    if (++shown > MAX_NAMES) break;
    shape[isParameter(name) ? name : UNNAMED] = toType(given[name]);
  }
  const left = shown > MAX_NAMES ? Object.keys(given).length - MAX_NAMES : 0;
  if (left > 0) shape['…'] = `${left} more`;
  return shape;
}

function isParameter(name: string): boolean {
  return name !== '__proto__' && PARAMETER.test(name);
}

function toType(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `string(${value.length})`;
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? `array(${value.length})` : `object(${Object.keys(value).length})`;
    default:
      return typeof value;
  }
}
