// A connected server with neutral calls, whatever dialect it speaks. It puts right what a server refuses a request for: a person logs in, or a new
// session is opened, once, with the same subscriptions. Then the request is sent again (send-again.ts): the server never worked on it.
import type { ClientCapabilities, Implementation, LoggingLevel } from '@modelcontextprotocol/client';
import type { SpokenEra } from '../../kernel/era/era.ts';
import type { ClientView } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { toPlainObject } from '../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { OutgoingCall, SubscribeOptions, Sender, ServerEvents, ServerView } from '../../kernel/server-view.ts';
import { PING_PEER } from '../../kernel/methods.ts';
import { systemClock } from '../../kernel/base/clock.ts';
import { atOnce } from '../../kernel/base/stray-promises.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { DEFAULT_LIMITS } from '../../kernel/base/limits.ts';
import type { Limits } from '../../kernel/base/limits.ts';
import { toSafeLog } from '../../kernel/base/log.ts';
import type { Log } from '../../kernel/base/log.ts';
import { viaFrom } from '../../kernel/base/via.ts';
import { toClientCapabilities } from '../eras/speak/client-capabilities.ts';
import { AGAIN, sendAgain } from '../eras/speak/send-again.ts';
import type { Remedy } from '../eras/speak/remedy.ts';
import type { ServerDialect } from '../eras/speak/server-dialect.ts';
import { ALL_REVISIONS, toOnlyRevision } from '../eras/revisions.ts';
import { STATELESS } from '../eras/stateless/revisions.ts';
import type { OnlyRevision } from '../eras/revisions.ts';
import { withTasks } from '../eras/stateless/envelope.ts';
import { isCommandAddress } from './address.ts';
import { routeTo } from './route.ts';
import type { Address, CommandAddress } from './address.ts';
import type { Route } from './route.ts';
import type { Link } from './links/link.ts';
import type { ServerLogin } from './accounts/server-login.ts';
import { RpcPeer } from './rpc-peer.ts';
import { negotiateConnection, reinitialize } from './negotiate.ts';
import type { NegotiatedConnection, NegotiateOptions } from './negotiate.ts';
import { ServerSubscriptions } from './server-subscriptions.ts';

/** How a client introduces itself on its own connection. */
export type ClientIntroduction = Pick<ClientView, 'info' | 'greeting'>;

/** The era `draft` means the draft dialect. */
interface ConnectServerOptions extends OnlyRevision {
  info: Implementation;
  capabilities: ClientCapabilities;
  /** The client that introduces itself on its own session; default: `info`. */
  introduction?: ClientIntroduction | undefined;
  events: ServerEvents;
  /** The era to prefer with a server that speaks both; default: the newer. */
  prefer?: SpokenEra | undefined;
  /** How long a call may be silent; default 60 s. */
  timeoutMs?: number | undefined;
  /** The longest a call may take; default: `limits.maxCallMs`. */
  maxTimeoutMs?: number | undefined;
  /** How long the first answer may take on stdio and the like; default 5 s. */
  probeMs?: number | undefined;
  limits?: Partial<Limits> | undefined;
  log?: Log | undefined;
  clock?: Clock | undefined;
  /** The id of the gateway that opens it (kernel/base/via.ts). */
  id?: string | undefined;
  onClose?: ((reason: string) => void) | undefined;
  /** Throws if the command of the server must not be started as it is now. Asked right before each start, and again when the server has answered. */
  checkStart?: ((address: CommandAddress) => void) | undefined;
  /** The login at the server; only HTTP uses it. */
  login?: ServerLogin | undefined;
  /** What was subscribed to on earlier connections; `resubscribe` asks for it again. */
  subscriptions?: ServerSubscriptions | undefined;
  /** Aborts the opening, and ends what was started for it. No effect later. */
  signal?: AbortSignal | undefined;
}

/** A route instead of an address leads to a server without an address, such as one in memory. */
export async function connectServer(address: Address | Route, options: ConnectServerOptions): Promise<ConnectedServer> {
  const log = toSafeLog(options.log);
  checkRevision(options.revision);
  const { clock = systemClock } = options;
  const { id, login, checkStart } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const route = isRoute(address) ? address : routeTo(address, { limits, log, clock, id, login, checkStart });
  let live: Link | undefined;
  let connected: ConnectedServer | undefined;
  const negotiation: NegotiateOptions = {
    intro: {
      info: options.info,
      ...options.introduction,
      capabilities: options.capabilities,
      ...toOnlyRevision(options),
    },
    identity: { info: options.info, capabilities: withTasks(toClientCapabilities(options.capabilities, STATELESS)) },
    // Evaluated for the request that causes the opening.
    via: () => (id === undefined ? undefined : viaFrom(id)),
    events: options.events,
    prefer: options.prefer,
    probeMs: options.probeMs ?? 5000,
    signal: options.signal,
    async connect(link) {
      options.signal?.throwIfAborted();
      live = link;
      const wire = new RpcPeer(link, {
        clock,
        log,
        id: options.id,
        timeoutMs: options.timeoutMs ?? 60_000,
        maxTimeoutMs: options.maxTimeoutMs ?? limits.maxCallMs,
        onClose: (reason) => link === live && options.onClose?.(reason), // not for a link that was tried and dropped
        onSilence: () => connected?.checkAlive(limits.pingMs),
      });
      await wire.start();
      return wire;
    },
  };
  const giveUp = (): void => void live?.close();
  options.signal?.addEventListener('abort', giveUp);
  try {
    const negotiated = await openLoggedIn(route, negotiation, login);
    if (checkStart && !isRoute(address) && isCommandAddress(address))
      await checkStarted(() => atOnce('checkStart', checkStart(address)), negotiated.link);
    return (connected = new ConnectedServer(negotiated, negotiation, options));
  } finally {
    options.signal?.removeEventListener('abort', giveUp);
  }
}

/** Its code was read after the comparison before its start. What somebody has swapped meanwhile serves nobody. */
async function checkStarted(check: () => void, link: Link): Promise<void> {
  try {
    check();
  } catch (thrown) {
    await link.close();
    throw thrown;
  }
}

/** A person may have to log in first, and again if the server is not satisfied; `settle` ends it. */
async function openLoggedIn(
  route: Route,
  negotiation: NegotiateOptions,
  login: ServerLogin | undefined,
): Promise<NegotiatedConnection> {
  for (;;) {
    try {
      return await negotiateConnection(route, negotiation);
    } catch (thrown) {
      if (!(await login?.settle(thrown, negotiation.signal))) throw thrown;
    }
  }
}

function isRoute(address: Address | Route): address is Route {
  return typeof address === 'object' && 'canReopen' in address;
}

export class ConnectedServer {
  readonly transport: Link['kind'];
  #negotiated: NegotiatedConnection;
  readonly #hasSessions: boolean;
  /** Undefined if nothing can be put right. Another one for each session. */
  #remedy: Remedy | undefined;
  readonly #negotiation: NegotiateOptions;
  readonly #login: ServerLogin | undefined;
  readonly #subscriptions: ServerSubscriptions;
  #healing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #isChecked = false;
  /** The number of messages received before it was open. */
  readonly #heardAtFirst: number;

  constructor(
    negotiated: NegotiatedConnection,
    negotiation: NegotiateOptions,
    { login, subscriptions = new ServerSubscriptions() }: Pick<ConnectServerOptions, 'login' | 'subscriptions'> = {},
  ) {
    this.#negotiated = negotiated;
    this.transport = negotiated.link.kind;
    this.#hasSessions = negotiated.speaker.server.era.hasSession && negotiated.link.forgetSession !== undefined;
    this.#login = login;
    this.#subscriptions = subscriptions;
    this.#negotiation = negotiation;
    this.#heardAtFirst = negotiated.wire.heard;
    this.#remedy = this.#remedyFor(negotiated.speaker);
  }

  /** Whether the server has sent anything since it was opened. */
  get hasServed(): boolean {
    return this.#negotiated.wire.heard > this.#heardAtFirst;
  }

  get server(): ServerView {
    return this.#negotiated.speaker.server;
  }

  async call(call: OutgoingCall): Promise<JsonObject> {
    return toPlainObject(await this.callRaw(call));
  }

  /** The same without parsing: for callers that only pass the result on. */
  callRaw(call: OutgoingCall): Promise<ResultObject> {
    const send = (): Promise<ResultObject> => this.#negotiated.speaker.call(call, this.#remedy);
    // In the session before it would be refused. If none can be opened, it hears the same as the call that found it lost.
    return this.#healing ? this.#healing.then(send, send) : send();
  }

  notify(method: string, params?: JsonObject, sender?: Sender): Promise<void> {
    return this.#healed((speaker) => speaker.notify(method, params, sender));
  }

  /** Asks the server to report changed lists. */
  watch(): void {
    this.#negotiated.speaker.watch();
  }

  /**
   * Only the first subscriber and the last `unsubscribe` of a resource reach the server. All subscribers get the server's result.
   */
  subscribe(uri: string): Promise<JsonObject> {
    return this.#subscriptions.add(uri, {}, () => this.tellSubscribed(uri));
  }

  unsubscribe(uri: string): Promise<JsonObject> {
    return this.#subscriptions.remove(uri) ? this.tellUnsubscribed(uri) : Promise.resolve({});
  }

  /** For a caller that keeps the list of subscribers itself. So is the next one. */
  tellSubscribed(uri: string, said?: SubscribeOptions): Promise<JsonObject> {
    return this.#healed((speaker) => speaker.subscribe(uri, said));
  }

  tellUnsubscribed(uri: string, said?: SubscribeOptions): Promise<JsonObject> {
    return this.#healed((speaker) => speaker.unsubscribe(uri, said));
  }

  /** No effect on a server that reports tasks unasked. */
  followTask(taskId: string): Promise<void> {
    return this.#subscriptions.follow(taskId, () => this.#healed(async (speaker) => speaker.followTask?.(taskId)));
  }

  /** Asks on a new connection for what was subscribed to on the lost one. */
  resubscribe(): Promise<void> {
    return this.#subscriptions.repeat((work) => this.#healed(work));
  }

  /** Keeps the level for new sessions, and tells the server. */
  setLogLevel(level: LoggingLevel): Promise<void> {
    this.#subscriptions.logLevel = level;
    return this.tellLogLevel(level);
  }

  /** For a caller that keeps the level itself. */
  tellLogLevel(level: LoggingLevel): Promise<void> {
    return this.#healed((speaker) => speaker.setLogLevel(level));
  }

  /** Ignores everything that the server still sends. */
  mute(): void {
    this.#negotiated.wire.mute();
  }

  /** Pings a silent server, one ping at a time. If it does not answer, its calls fail and its process ends. */
  checkAlive(pingMs: number): void {
    if (this.#isChecked || this.#closing) return;
    this.#isChecked = true;
    const { wire, link } = this.#negotiated;
    const { heard } = wire;
    this.call({ method: PING_PEER, timeoutMs: pingMs })
      .catch((thrown: unknown) => {
        const isTimeout = thrown instanceof GatewayError && thrown.code === 'UPSTREAM_TIMEOUT';
        if (!isTimeout || wire.heard > heard) return; // any message, even an error, is a sign of life
        wire.onClose(`it hangs: no answer to a ping within ${pingMs} ms after a call had timed out`);
        void link.close();
      })
      .finally(() => (this.#isChecked = false));
  }

  /** For one that is lost: ends what is left of it, without a farewell. */
  drop(): Promise<void> {
    this.#closing ??= this.#negotiated.link.close();
    return this.#closing;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.mute();
    await this.#negotiated.speaker.leave();
    await this.#negotiated.link.close();
  }

  /** For what is not a call. */
  #healed<T>(work: (speaker: ServerDialect) => Promise<T>): Promise<T> {
    const start = (): Promise<T> => work(this.#negotiated.speaker);
    const done = this.#healing ? this.#healing.then(start, start) : start();
    const remedy = this.#remedy;
    if (!remedy) return done;
    const call = {
      signal: undefined,
      async remedy(failure: unknown, earlier: readonly unknown[]): Promise<typeof AGAIN> {
        if (await remedy(failure, earlier)) return AGAIN;
        throw failure;
      },
      send: () => work(this.#negotiated.speaker),
    };
    return done.catch((thrown: unknown) => sendAgain(call, thrown));
  }

  #remedyFor(speaker: ServerDialect): Remedy | undefined {
    if (!this.#hasSessions && !this.#login) return undefined;
    return async (thrown, earlier) => {
      if (await this.#login?.settle(thrown)) return true;
      if (!this.#hasSessions || !isSessionLost(thrown) || earlier.some(isSessionLost)) return false;
      // Unless a new session was opened for another call that was lost with the same one.
      if (speaker === this.#negotiated.speaker) {
        this.#healing ??= this.#heal().finally(() => (this.#healing = undefined));
        await this.#healing;
      }
      return true;
    };
  }

  async #heal(): Promise<void> {
    const speaker = await reinitialize(this.#negotiated, this.#negotiation);
    this.#negotiated = { ...this.#negotiated, speaker };
    this.#remedy = this.#remedyFor(speaker);
    await this.#subscriptions.repeat((work) => work(speaker));
  }
}

function isSessionLost(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.details.session === 'lost';
}

function checkRevision(revision: string | undefined): void {
  if (revision === undefined || ALL_REVISIONS.includes(revision)) return;
  const reason = `"${revision}" is unknown; use one of ${ALL_REVISIONS.join(', ')}`;
  throw new GatewayError('BAD_OPTION', { option: 'revision', reason });
}
