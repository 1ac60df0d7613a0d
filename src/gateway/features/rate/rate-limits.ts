// How often callers may call. Requests of a caller are counted as they come in, before anything is done for them; calls to servers and tools are
// counted where a server gets them, under its own names, whatever path, name or era they came by.
// 1. A caller is a principal, else a network address: who opens a new session gets no new allowance.
// 2. What follows from a counted call is not counted: lists that the gateway needs, answers to questions, tasks that are looked after.
// 3. A request that one rate refuses uses up no other.
import { TargetLayer } from '../../../kernel/target.ts';
import type { Layer, HandleResult, Target } from '../../../kernel/target.ts';
import { callerOfClient } from '../../../kernel/exchange.ts';
import type { Exchange } from '../../../kernel/exchange.ts';
import { isFollowUp } from '../../../kernel/interaction.ts';
import { REQUEST_METHODS, RUN_METHODS, methodsWhere } from '../../../kernel/methods.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { RateLimiter, readRate } from '../../../kernel/base/rate.ts';
import { toNameRule } from '../../matching/name-rule.ts';
import type { NameRule } from '../../matching/name-rule.ts';
import type { Member } from '../../router/member.ts';
import type { Checkpoint } from '../feature.ts';
import { Refusals } from './refusals.ts';

/** Rates such as `10/s`, `60/min`, `1000/h` or `5000/day`. */
export interface RateOptions {
  /** Requests of one caller: of a principal, else of a network address. */
  readonly perCaller?: string | undefined;
  /** Calls to one server, by all callers together. */
  readonly perServer?: string | undefined;
  /** Calls of one caller by tool: the server's own name, `server__name`, or a glob. What one glob matches is counted together. */
  readonly tools?: Readonly<Record<string, string>> | undefined;
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
  #options: RateOptions;
  /** They stay when a gateway's servers or steps are replaced. */
  #servers = new Map<string, RatedMember>();
  #perCaller: ConfiguredRate | undefined;
  readonly refusals = new Refusals();
  /** Counts the requests of callers. */
  readonly layer: Layer = (next) => new CallerRate(next, () => this.#perCaller);

  constructor(options: RateOptions = {}, clock: Clock) {
    this.#clock = clock;
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

  #toPerCaller({ perCaller }: RateOptions): ConfiguredRate | undefined {
    if (perCaller === undefined) return undefined;
    return new ConfiguredRate(perCaller, 'rate.perCaller', this.#around('this gateway'));
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
    const perServer = own.perServer ?? this.#options.perServer;
    const total =
      perServer && new ConfiguredRate(perServer, `${own.perServer ? place : 'rate'}.perServer`, this.#around(server));
    const caller = own.perCaller && new ConfiguredRate(own.perCaller, `${place}.perCaller`, this.#around(server));
    const tools = [...this.#tools(own, place), ...this.#tools(this.#options, 'rate')];
    return total || caller || tools.length > 0 ? new ServerRates({ server, total, caller, tools }) : undefined;
  }

  #around(what: string): RateContext {
    return { what, clock: this.#clock, refusals: this.refusals };
  }

  #tools({ tools = {} }: RateOptions, place: string): ToolRate[] {
    return Object.entries(tools).map(([glob, rate]) => ({
      isMeant: toNameRule([glob]),
      rate: new ConfiguredRate(rate, `${place}.tools.${glob}`, this.#around(glob)),
    }));
  }
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
      const caller = callerOfClient(exchange.client);
      rate.check(caller);
      rate.count(caller);
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
    if (!UNCOUNTED.has(exchange.method) && exchange.resumed?.state === undefined) this.#rates.take(exchange);
    return this.target.handle(exchange);
  }
}

const MAX_TOOLS = 10_000;
const ALL = '';

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

  /** Throws RATE_LIMITED. */
  take({ method, params, client }: Exchange): void {
    const { total, caller } = this.#options;
    const key = callerOfClient(client);
    const run = RUN_METHODS[method];
    const rates = run ? this.#ratesOf(String(params[run.name])) : [];
    for (const rate of rates) rate.check(key);
    if (caller) caller.check(key);
    if (total) total.check(ALL);
    for (const rate of rates) rate.count(key);
    if (caller) caller.count(key);
    if (total) total.count(ALL);
  }

  #ratesOf(name: string): readonly ConfiguredRate[] {
    const { server, tools } = this.#options;
    return this.#byTool.getOrCreate(name, () =>
      tools.filter(({ isMeant }) => isMeant(name, { server, name })).map(({ rate }) => rate),
    );
  }
}

interface RateContext {
  /** What it limits, for the error. */
  what: string;
  clock: Clock;
  refusals: Refusals;
}

/** One configured rate. */
class ConfiguredRate {
  readonly #limiter: RateLimiter;
  readonly #about: { what: string; rate: string; limit: string };
  readonly #refusals: Refusals;

  /** `option` is where it is configured. */
  constructor(rate: string, option: string, { what, clock, refusals }: RateContext) {
    const read = readRate(rate);
    if (!read) throw new GatewayError('BAD_OPTION', { option, reason: 'it must be a rate such as "60/min"' });
    this.#limiter = new RateLimiter(read, clock);
    this.#about = { what, rate, limit: option };
    this.#refusals = refusals;
  }

  check(key: string): void {
    const retryAfterMs = this.#limiter.waitMs(key);
    if (retryAfterMs <= 0) return;
    this.#refusals.add(this.#about.limit);
    throw new GatewayError('RATE_LIMITED', { ...this.#about, retryAfterMs });
  }

  count(key: string): void {
    this.#limiter.count(key);
  }
}
