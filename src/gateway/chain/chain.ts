// Composes the steps into one function, once per method that a step names. Common mistakes in steps become errors that name the
// step (chain-run.ts). A method without a step goes straight to the target.
import type { EventHub } from '../../kernel/events/event-hub.ts';
import type { State } from '../../kernel/state/state.ts';
import type { Handle } from '../../kernel/target.ts';
import type { Exchange } from '../../kernel/exchange.ts';
import { InternalExchange } from '../../kernel/internal-exchange.ts';
import { kindNamedBy, nameIn } from '../../kernel/named-thing.ts';
import { toPlainObject } from '../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { OriginOf, Step } from '../../kernel/step.ts';
import { createCounter } from '../../kernel/crypto/ids.ts';
import { toError } from '../../kernel/base/errors.ts';
import type { GatewayError } from '../../kernel/base/errors.ts';
import { createLog } from '../../kernel/base/log.ts';
import type { Log } from '../../kernel/base/log.ts';
import { droppable } from '../../kernel/base/stray-promises.ts';
import { judgeStarts } from './judge-starts.ts';
import { originBehind } from './server-initiated.ts';
import type { ChainContext, OwnerOf } from './chain-exchange.ts';
import { toStepOutcome, resultIn } from './outcome.ts';
import { ChainRun } from './chain-run.ts';
import type { RestOfChain, StepPlace } from './chain-run.ts';

const nextScope = createCounter('chain-');
const SILENT = createLog({ level: 'silent' });

export interface ChainOptions {
  /** Tells steps which server would handle a request. */
  ownerOf?: OwnerOf | undefined;
  /** Tells steps the origin of a name. */
  originOf?: OriginOf | undefined;
  /** Gets the lines of steps, and each mistake of a step once. */
  log?: Log | undefined;
  /** Gets what steps decide. */
  events?: EventHub | undefined;
  state?: State | undefined;
  /** Separates what steps remember for different chains; default: unique. */
  scope?: string | undefined;
  /** The same for successive versions of a chain; default: the scope. */
  lineage?: string | undefined;
  /** Handles the exchange with the chain that has replaced this one; undefined if none has. */
  again?: ChainContext['again'] | undefined;
}

export function createChain(steps: readonly Step[], last: Handle, options: ChainOptions = {}): Handle {
  const handling = unwrappedFirst(steps.filter((step) => step.handle)).map(judgeStarts);
  if (handling.length === 0) return last;
  return new Chain(handling, last, options).handle;
}

/** A step that knows only the tool that a call is wrapped in could be passed by it. */
function unwrappedFirst(steps: readonly Step[]): readonly Step[] {
  const unwraps = steps.filter((step) => step.unwraps);
  return unwraps.length === 0 ? steps : [...unwraps, ...steps.filter((step) => !step.unwraps)];
}

/** Somebody watches the call, and it has reached no server. */
function isUnowned({ observed, server }: Exchange): boolean {
  return observed !== undefined && server === undefined;
}

export function createScope(): string {
  return nextScope();
}

class Chain implements ChainContext {
  readonly scope: string;
  readonly ownerOf: OwnerOf;
  readonly log: Log;
  readonly events: EventHub | undefined;
  readonly state: State | undefined;
  readonly lineage: string;
  readonly again: ChainContext['again'];
  readonly #steps: readonly Step[];
  readonly #last: Handle;
  readonly #originOf: OriginOf;
  readonly #logged = new Set<string>();
  /**
   * The rest of the chain after each place, by method. Methods that no step names share one entry, because clients may send any.
   */
  readonly #runs: Map<string, RestOfChain>[];
  readonly #named: Set<string>;

  constructor(steps: readonly Step[], last: Handle, options: ChainOptions) {
    const { ownerOf = () => undefined, originOf = () => undefined, log = SILENT, scope = createScope() } = options;
    this.scope = scope;
    this.lineage = options.lineage ?? scope;
    this.again = options.again ?? (() => undefined);
    this.ownerOf = ownerOf;
    this.#steps = steps;
    this.#last = last;
    this.#originOf = originOf;
    this.log = log;
    this.events = options.events;
    this.state = options.state;
    this.#runs = [...steps, undefined].map(() => new Map());
    this.#named = new Set(steps.flatMap((step) => step.methods ?? []));
  }

  readonly handle: Handle = (exchange) => {
    const run = this.#from(0, exchange.method);
    if (run === this.#end) return this.#last(exchange);
    return this.#start(run, exchange);
  };

  /** Logs a mistake once, since only the operator can correct it; the client gets the error. */
  onMisuse({ message, details }: GatewayError): void {
    if (this.#logged.has(message)) return;
    this.#logged.add(message);
    this.log.error({ step: details.step, reason: details.reason }, 'step.misused');
  }

  #start(run: RestOfChain, exchange: Exchange): Promise<ResultObject> {
    const started = new ChainRun(exchange, this);
    return run(started).then(
      (outcome) => {
        if (isUnowned(exchange)) this.#noteOwner(exchange);
        if (started.failure) throw started.failure;
        return resultIn(outcome);
      },
      (thrown: unknown) => {
        if (isUnowned(exchange)) this.#noteOwner(exchange);
        throw thrown;
      },
    );
  }

  /** A call that a step has refused or answered is recorded with its server, and the server's own name. */
  #noteOwner(exchange: Exchange): void {
    const { method, observed, params } = exchange;
    const kind = kindNamedBy(method);
    const name = kind && nameIn(method, observed!.unwrapped ?? params);
    const origin = name && originBehind(this.#steps, this.scope, this.#originOf)(`${kind}s`, name);
    if (!origin) return;
    exchange.server = origin.server;
    observed!.name = origin.name;
  }

  /** The target may change the params; the step gets back its own. */
  readonly #end: RestOfChain = (exchange) => {
    const { params } = exchange;
    return this.#answer(exchange).then(
      (result) => {
        exchange.params = params;
        return toStepOutcome(result);
      },
      (thrown: unknown) => {
        exchange.params = params;
        throw toError(thrown); // from here on, a foreign error comes from a step
      },
    );
  };

  #answer(exchange: Exchange): Promise<ResultObject> {
    try {
      return Promise.resolve(this.#last(exchange));
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  #from(place: number, method: string): RestOfChain {
    const key = this.#named.has(method) ? method : '';
    let run = this.#runs[place]!.get(key);
    if (!run) this.#runs[place]!.set(key, (run = this.#fold(place, method)));
    return run;
  }

  #fold(place: number, method: string): RestOfChain {
    const step = this.#steps[place];
    if (!step) return this.#end;
    if (step.methods && !step.methods.includes(method)) return this.#from(place + 1, method);
    return this.#link(step, place + 1, this.#from(place + 1, method));
  }

  #link(step: Step, after: number, rest: RestOfChain): RestOfChain {
    const lookUp: StepPlace['lookUp'] = (exchange, method, params = {}) => {
      const quiet = new InternalExchange(method, params, exchange.client, exchange.signal);
      quiet.ownTool = exchange.ownTool;
      return droppable(this.#start(this.#from(after, method), quiet).then(toPlainObject));
    };
    const originOf = originBehind(this.#steps.slice(after), this.scope, this.#originOf);
    const place = { index: after - 1, step, rest, lookUp, originOf };
    return (run) => run.run(place);
  }
}

/** Puts these steps inside of all others, but for those that keep answers: what they have kept is judged like what a server answers. */
export function withInnermost(steps: readonly Step[], innermost: readonly Step[]): readonly Step[] {
  if (innermost.length === 0) return steps;
  const kept = steps.filter(({ keepsAnswers }) => keepsAnswers);
  return [...steps.filter((step) => !kept.includes(step)), ...innermost, ...kept];
}
