// Which answers are trusted to be a person's own, for approvals and for questions that only a human may answer (`human`, `by: 'human'`).
// An answer counts only if
// 1. its question was asked first: an answer that came before is ignored (`mustBeAskedFirst`, kernel/exchange.ts), and
// 2. it comes by a proven channel: the page in a browser that the operator has paired or that a login proves, or the form of a
//    client that the operator trusts: by key, by login, or because it is the client of a stdio entry.
// Nothing else counts: no message of a model, no link alone, no prompt of a client that is not trusted, and never the name that a
// client gives itself. `trust: 'all'` switches this off: then everybody who has the link or speaks the protocol is believed.
import type { EventHub } from '../../kernel/events/event-hub.ts';
import { deriveExchange } from '../../kernel/derived-exchange.ts';
import { namesOfCaller } from '../../kernel/exchange.ts';
import type { AnswerWay, Ask, ClientView, Exchange } from '../../kernel/exchange.ts';
import type { PageLogin } from '../../kernel/login-pages.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { Watcher } from '../../kernel/target.ts';
import { loggedPrincipal } from '../../kernel/base/anonymous.ts';
import { canonicalJson } from '../../kernel/base/canonical-json.ts';
import { sha256 } from '../../kernel/crypto/lazy-crypto.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { HttpRequest } from '../../kernel/base/http.ts';
import type { Log } from '../../kernel/base/log.ts';
import { printableLine } from '../../kernel/base/visible.ts';
import type { QuestionRound } from '../question-round.ts';
import type { Pairings } from './pairings.ts';
import { mayAnswer } from './may-answer.ts';

/** The clients whose forms are believed: of stdio entries, with this API key, or of this user's login. */
type TrustedClient = 'stdio' | `key:${string}` | `user:${string}`;
export type TrustOption = 'all' | readonly TrustedClient[];

const DEFAULT_TRUST: TrustOption = ['stdio'];

/** Tells the person that a question waits for them. */
interface WaitingNotice {
  /** The page with the question. It works only in a browser that is paired or logged in, so it is not a secret. */
  readonly link: string;
  readonly about: QuestionRound['about'];
  /** Whether a browser is paired that may answer it. */
  readonly hasBrowser: boolean;
  /** A code that pairs a browser, as `&c=CODE` of the link or to be typed: only for the person's own screen. */
  readonly invite: () => Promise<string>;
}

export type NotifyPerson = (notice: WaitingNotice) => void | Promise<void>;

/** The login of the person at this browser. */
export type IdentifyPerson = (request: HttpRequest) => string | undefined | Promise<string | undefined>;

interface AnswerTrustOptions {
  trust?: TrustOption | undefined;
  /** The browsers that the operator has paired; loaded when the first question needs them. */
  pairings: () => Promise<Pairings>;
  notify?: NotifyPerson | undefined;
  identifyPerson?: IdentifyPerson | undefined;
  /** By which callers who are identified log in at the page. */
  pageLogin?: PageLogin | undefined;
  events?: EventHub | undefined;
  log: Log;
}

type ChangingTrust = Pick<AnswerTrustOptions, 'trust' | 'notify' | 'identifyPerson'>;

/** How an answer was given. */
export interface AnswerOrigin {
  way: AnswerWay;
  /** Who vouches for it, such as `browser:laptop` or `key:ci`. */
  who: string | undefined;
}

/** What proves an answer: how it came, who vouches for it, and a digest of what was shown. */
interface AnswerProof {
  way: AnswerWay;
  by: string;
  shown: string;
}

export class AnswerTrust {
  #options: AnswerTrustOptions;
  /** Undefined: everybody is believed. */
  #trusted: ReadonlySet<string> | undefined;

  constructor(options: AnswerTrustOptions) {
    this.#options = options;
    this.#trusted = readTrust(options.trust);
  }

  /** False if everybody is believed. */
  get isStrict(): boolean {
    return this.#trusted !== undefined;
  }

  /** Questions that are open are judged by it from now on. Throws BAD_OPTION, and then nothing changes. */
  replace(ask: ChangingTrust): void {
    this.#trusted = readTrust(ask.trust);
    const { trust, notify, identifyPerson } = ask;
    this.#options = { ...this.#options, trust, notify, identifyPerson };
  }

  /** Goes back to what it was. */
  checkpoint(): () => void {
    const [options, trusted] = [this.#options, this.#trusted];
    return () => {
      [this.#options, this.#trusted] = [options, trusted];
    };
  }

  /** Whether a person answers the forms of this client, as the operator says. */
  trusts(client: ClientView): boolean {
    return !this.isStrict || this.#voucherOf(client) !== undefined;
  }

  /** Who is at this browser, if that is proven and the question is theirs to answer. */
  async proofOf(round: QuestionRound, request: HttpRequest): Promise<string | undefined> {
    const { identifyPerson, pageLogin, pairings } = this.#options;
    const person = await identifyPerson?.(request);
    if (person !== undefined && mayAnswer({ user: person }, round.user)) return `login:${person}`;
    const visitor = await pageLogin?.visitorOf(request);
    if (visitor !== undefined && visitor === round.user) return `login:${visitor}`;
    const paired = await (await pairings()).find(request.headers.cookie);
    return paired && mayAnswer(paired, round.user) ? `browser:${paired.name}` : undefined;
  }

  /** Whether a person can be told about a question of this client. */
  async canReach(client: ClientView): Promise<boolean> {
    const { notify, identifyPerson, pairings } = this.#options;
    if (identifyPerson !== undefined || notify !== undefined) return true;
    const user = userOf(client);
    return this.canLogIn(user) || (await pairings()).hasAny(user);
  }

  /** Whether this caller can log in at the page. */
  canLogIn(user: string | undefined): boolean {
    return user !== undefined && this.#options.pageLogin?.hostFor(user) !== undefined;
  }

  /** Tells the person where the question waits. */
  async tell(round: QuestionRound, link: string): Promise<void> {
    const { notify, log } = this.#options;
    const { tool, server } = round.about;
    // At this level, because the log may be all that the operator sees.
    log.warn({ tool, server, link, user: round.user }, 'ask.person');
    if (!notify) return;
    try {
      const pairings = await this.#options.pairings();
      const hasBrowser = await pairings.hasAny(round.user);
      await notify({
        link,
        about: round.about,
        hasBrowser,
        invite: async () => (await pairings.invite(round.user)).code,
      });
    } catch (error) {
      log.warn({ error }, 'ask.person-not-told');
    }
  }

  /** The receipt: who said what about what was shown. That of an approval is recorded by the step that asked. */
  record(ask: Ask, exchange: Exchange, answer: JsonObject | Error, { way, who }: AnswerOrigin): AnswerProof {
    const { events, log } = this.#options;
    const { id, client, server, method, params } = exchange;
    const outcome = outcomeOf(answer);
    const by = who ?? this.#voucherOf(client) ?? 'nobody vouched for it';
    const shown = digestOf(ask);
    log.info({ exchange: id, way, by, outcome, shown }, 'ask.word');
    const name = typeof params.name === 'string' ? params.name : undefined;
    if (ask.ofGateway !== true) {
      const principal = loggedPrincipal(client.principal);
      events?.tell({
        kind: 'approval',
        exchange: id,
        principal,
        server,
        method,
        name,
        outcome,
        details: { way, by, shown },
      });
    }
    return { way, by, shown };
  }

  #voucherOf({ connection }: ClientView): string | undefined {
    if (!connection) return undefined;
    const { transport, identity, isVouched = true } = connection;
    const isOwn = isVouched && (transport === 'stdio' || transport === 'sdk'); // the operator wrote the entry, or the program handed over the transport
    if (isOwn && this.#trusted?.has('stdio')) return 'stdio';
    if (!identity) return undefined;
    return namesOfCaller(identity).find((name) => this.#trusted?.has(name));
  }
}

/** The login of the caller; undefined where nobody logs in. */
export function userOf({ connection, principal }: ClientView): string | undefined {
  return connection?.identity === undefined ? undefined : principal;
}

export function isForHuman({ questions }: Pick<QuestionRound, 'questions'>): boolean {
  return questions.some(({ ask }) => ask.human === true);
}

/** Names the user as `parley pair` takes them. */
export function noPerson(client: ClientView): GatewayError {
  const user = userOf(client)?.replace(/^key:/, '');
  if (user === undefined) return new GatewayError('NO_PERSON', { whom: 'with this gateway' });
  const quoted = `'${printableLine(user).replaceAll("'", String.raw`'\''`)}'`;
  return new GatewayError('NO_PERSON', { whom: `for ${printableLine(user)} (run: parley pair --user ${quoted})` });
}

function readTrust(trust: TrustOption = DEFAULT_TRUST): ReadonlySet<string> | undefined {
  return trust === 'all' ? undefined : new Set(trust.map(readTrusted));
}

function readTrusted(word: string): string {
  if (word === 'stdio' || /^(key|user):./.test(word)) return word;
  const reason = `"${word}" is neither "stdio" nor "key:NAME" nor "user:NAME"`;
  throw new GatewayError('BAD_OPTION', { option: 'ask.trust', reason });
}

function outcomeOf(answer: JsonObject | Error): string {
  if (answer instanceof Error) return answer instanceof GatewayError ? answer.code : 'INTERNAL';
  const { action, content } = answer;
  const isNo = action === 'accept' && (content as JsonObject | undefined)?.approve === false;
  return isNo ? 'decline' : String(action);
}

/** Of everything that the person was shown. */
function digestOf({ params }: Ask): string {
  const { message, requestedSchema, url } = params ?? {};
  const shown = canonicalJson({ message, requestedSchema, url });
  return `sha256:${sha256(shown, 'hex')}`;
}

/**
 * Keeps questions for a human from a client that nobody vouches for, where no call could ask on the page instead: in requests for tasks and
 * sessions. Lists and the like ask nothing.
 */
export function guardExchange(exchange: Exchange): Exchange {
  if (!/^(tasks\/|interaction\.)/.test(exchange.method)) return exchange;
  const channel = {
    canAsk: (ask: Ask): boolean => ask.human !== true && exchange.canAsk(ask),
    ask: (ask: Ask, signal?: AbortSignal): Promise<JsonObject> =>
      ask.human ? Promise.reject(noPerson(exchange.client)) : exchange.ask(ask, signal),
  };
  return deriveExchange(exchange, { channel });
}

/** The same outside of any request. */
export function guardWatcher(watcher: Watcher): Watcher {
  const { client } = watcher;
  return {
    client,
    ask: (ask, signal) => (ask.human ? Promise.reject(noPerson(client)) : watcher.ask!(ask, signal)),
    ...(watcher.notify && { notify: (method, params) => watcher.notify!(method, params) }),
    ...(watcher.isPresent && { isPresent: () => watcher.isPresent!() }),
  };
}
