// How often callers may call. Requests of a caller are counted as they come in, before anything is done for them; calls to servers and tools are
// counted where a server gets them, under its own names, whatever path, name or era they came by.
// 1. A caller is a principal, else a network address: who opens a new session gets no new allowance.
// 2. What follows from a counted call is not counted: lists that the gateway needs, answers to questions, tasks that are looked after.
// 3. A request that one rate refuses uses up no other.
// 4. Gateways that share a state count together (shared-rate.ts).
import { TargetLayer } from '../../../kernel/target.ts';
import type { Layer, HandleResult, Target } from '../../../kernel/target.ts';
import { callerOfClient } from '../../../kernel/exchange.ts';
import type { Exchange } from '../../../kernel/exchange.ts';
import { isFollowUp } from '../../../kernel/interaction.ts';
import { REQUEST_METHODS, RUN_METHODS, methodsWhere } from '../../../kernel/methods.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { State } from '../../../kernel/state/state.ts';
import { toNameRule } from '../../matching/name-rule.ts';
import type { NameRule } from '../../matching/name-rule.ts';
import type { Member } from '../../router/member.ts';
import type { Checkpoint } from '../feature.ts';
import { ConfiguredRate } from './configured-rate.ts';
import type { RateContext } from './configured-rate.ts';
import { Refusals } from './refusals.ts';
import type { WhenDown } from './shared-rate.ts';

/** Rates such as `10/s`, `60/min`, `1000/h` or `5000/day`. */
export interface RateOptions {
  /** Requests of one caller: of a principal, else of a network address. */
  readonly perCaller?: string | undefined;
  /** Calls to one server, by all callers together. */
  readonly perServer?: string | undefined;
  /** Calls of one caller by tool: the server's own name, `server__name`, or a glob. What one glob matches is counted together. */
  readonly tools?: Readonly<Record<string, string>> | undefined;
  /** While gateways that share a state cannot reach it: each one counts for itself (`allow`, the default), or refuses. */
  readonly whenDown?: WhenDown | undefined;
}

interface ToolRate {
  isMeant: NameRule;
  rate: ConfiguredRate;
}

/** A server as it was last seen. */
interface RatedMember {
  own: RateOptions | undefined;
  target: Target;
  rates: ServerRates | undefined;
  rated: Target;
}

export class RateLimits {
  readonly #clock: Clock;
  readonly #state: State;
  #options: RateOptions;
  /** They stay when a gateway's servers or steps are replaced. */
  #servers = new Map<string, RatedMember>();
  #perCaller: ConfiguredRate | undefined;
  readonly refusals = new Refusals();
  /** Counts the requests of callers. */
  readonly layer: Layer = (next) => new CallerRate(next, () => this.#perCaller);

  constructor(options: RateOptions = {}, { clock, state }: { clock: Clock; state: State }) {
    this.#clock = clock;
    this.#state = state;
    this.#options = options;
    this.#perCaller = this.#toPerCaller(options);
  }

  get options(): RateOptions {
    return this.#options;
  }

  /** Every count starts again. Throws BAD_OPTION, and then nothing changes. */
  set options(options: RateOptions) {
    this.#perCaller = this.#toPerCaller(options);
    this.#options = options;
    this.#servers.clear();
  }

  checkpoint(): Checkpoint {
    const [options, perCaller, servers] = [this.#options, this.#perCaller, new Map(this.#servers)];
    return {
      undo: () => {
        [this.#options, this.#perCaller, this.#servers] = [options, perCaller, servers];
      },
    };
  }

  #toPerCaller({ perCaller, whenDown }: RateOptions): ConfiguredRate | undefined {
    if (perCaller === undefined) return undefined;
    return new ConfiguredRate(perCaller, 'rate.perCaller', this.#around('this gateway', whenDown));
  }

  /** The member as it is, if there are no rates for it. */
  member(member: Member): Member {
    const { name, target } = member;
    const own = rateOf(member);
    let known = this.#servers.get(name);
    if (known?.own !== own || known?.target !== target) {
      const rates = known && known.own === own ? known.rates : this.#create(name, own);
      this.#servers.set(name, (known = { own, target, rates, rated: rates ? new RatedServer(target, rates) : target }));
    }
    return known.rated === target ? member : { ...member, target: known.rated };
  }

  #create(server: string, own: RateOptions = {}): ServerRates | undefined {
    const place = `servers.${server}.rate`;
    const whenDown = own.whenDown ?? this.#options.whenDown;
    const around = (what: string): RateContext => this.#around(what, whenDown, server);
    const perServer = own.perServer ?? this.#options.perServer;
    const total =
      perServer && new ConfiguredRate(perServer, `${own.perServer ? place : 'rate'}.perServer`, around(server));
    const caller = own.perCaller && new ConfiguredRate(own.perCaller, `${place}.perCaller`, around(server));
    const tools = [...toToolRates(own, place, around), ...toToolRates(this.#options, 'rate', around)];
    return total || caller || tools.length > 0 ? new ServerRates({ server, total, caller, tools }) : undefined;
  }

  /** `server`: whose rate it is, if each server has one of its own. */
  #around(what: string, whenDown: WhenDown = 'allow', server = ''): RateContext {
    return { what, server, whenDown, clock: this.#clock, state: this.#state, refusals: this.refusals };
  }
}

function toToolRates({ tools = {} }: RateOptions, place: string, around: (what: string) => RateContext): ToolRate[] {
  return Object.entries(tools).map(([glob, rate]) => ({
    isMeant: toNameRule([glob]),
    rate: new ConfiguredRate(rate, `${place}.tools.${glob}`, around(glob)),
  }));
}

/** Whether tools have rates of their own. */
export function hasToolRates(forAll: RateOptions | undefined, members: readonly Member[]): boolean {
  return [forAll, ...members.map(rateOf)].some((rate) => rate?.tools !== undefined);
}

function rateOf({ settings = {} }: Member): RateOptions | undefined {
  return (settings as { rate?: RateOptions }).rate;
}

class CallerRate extends TargetLayer {
  readonly #rate: () => ConfiguredRate | undefined;

  constructor(target: Target, rate: () => ConfiguredRate | undefined) {
    super(target);
    this.#rate = rate;
  }

  override handle(exchange: Exchange): HandleResult {
    const rate = this.#rate();
    if (rate && !isFollowUp(exchange.method) && exchange.resumed?.state === undefined) {
      const taking = rate.take(callerOfClient(exchange.client));
      if (taking) return taking.then(() => this.target.handle(exchange));
    }
    return this.target.handle(exchange);
  }
}

/**
 * Not what a server gets besides calls: lists are its gateway's, and follow-ups belong to a call. A method that nobody knows may do
 * anything, and counts.
 */
const UNCOUNTED = new Set<string>(methodsWhere(({ rated }) => !rated).filter((method) => REQUEST_METHODS.has(method)));

class RatedServer extends TargetLayer {
  readonly #rates: ServerRates;

  constructor(target: Target, rates: ServerRates) {
    super(target);
    this.#rates = rates;
  }

  override handle(exchange: Exchange): HandleResult {
    const isCounted = !UNCOUNTED.has(exchange.method) && exchange.resumed?.state === undefined;
    const taking = isCounted ? this.#rates.take(exchange) : undefined;
    return taking ? taking.then(() => this.target.handle(exchange)) : this.target.handle(exchange);
  }
}

const MAX_TOOLS = 10_000;
const ALL = '';
const NO_RATES: readonly ConfiguredRate[] = [];

interface ServerRateOptions {
  server: string;
  total: ConfiguredRate | '' | undefined;
  caller: ConfiguredRate | '' | undefined;
  tools: readonly ToolRate[];
}

class ServerRates {
  readonly #options: ServerRateOptions;
  /** The rates of a tool by its own name. */
  readonly #byTool = new BoundedMap<string, readonly ConfiguredRate[]>(MAX_TOOLS);

  constructor(options: ServerRateOptions) {
    this.#options = options;
  }

  /** Throws, or rejects with, RATE_LIMITED. A promise if it has to be looked up how many are left. */
  take(exchange: Exchange): Promise<void> | undefined {
    const { total, caller } = this.#options;
    const { method, params, client } = exchange;
    const key = callerOfClient(client);
    const run = RUN_METHODS[method];
    const rates = run ? this.#ratesOf(String(params[run.name])) : NO_RATES;
    let looking: Promise<unknown> | undefined;
    for (const rate of rates) looking ??= rate.check(key);
    if (caller) looking ??= caller.check(key);
    if (total) looking ??= total.check(ALL);
    if (looking) return looking.then(() => this.take(exchange)); // others may have taken some of each meanwhile
    for (const rate of rates) rate.count(key);
    if (caller) caller.count(key);
    if (total) total.count(ALL);
    return undefined;
  }

  #ratesOf(name: string): readonly ConfiguredRate[] {
    const { server, tools } = this.#options;
    return this.#byTool.getOrCreate(name, () =>
      tools.filter(({ isMeant }) => isMeant(name, { server, name })).map(({ rate }) => rate),
    );
  }
}
