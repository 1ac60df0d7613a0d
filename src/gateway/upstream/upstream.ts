// One server, connected: calls in neutral words, whatever it speaks. A session that the server has forgotten is opened again,
// once, with all that was wished for in the old one, and the call that met it is made again: the server never saw it.
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../protocol/message.ts';
import { toPlainObject } from '../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import type { OutgoingCall, SubscribeOptions, Sender, ServerEvents, ServerView } from '../../protocol/server-view.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import { DEFAULT_LIMITS } from '../../shared/limits.ts';
import type { Limits } from '../../shared/limits.ts';
import { createLog } from '../../shared/log.ts';
import type { Log } from '../../shared/log.ts';
import { toClientCapabilities } from '../dialect/speak/client-capabilities.ts';
import { viaFrom } from '../../shared/via.ts';
import { ALL_REVISIONS, STATELESS, toRevisionPin } from '../dialect/revisions.ts';
import type { RevisionPin, SpokenEra } from '../dialect/revisions.ts';
import { withTasks } from '../dialect/stateless/speak/outgoing-envelope.ts';
import { routeTo } from './address.ts';
import type { Address, Route } from './address.ts';
import type { ClientIntroduction } from './connections/connection-signature.ts';
import type { Link } from './links/link.ts';
import { RpcPeer } from './rpc-peer.ts';
import { negotiateConnection, reinitialize } from './negotiate.ts';
import type { NegotiatedConnection, NegotiateOptions } from './negotiate.ts';
import { ServerSubscriptions } from './connections/server-subscriptions.ts';

/** What is pinned is the only thing to speak; `draft` stands for the draft dialect. */
export interface UpstreamOptions extends RevisionPin {
  info: Implementation;
  capabilities: ClientCapabilities;
  /** In whose name a session is opened that one client has to itself; default: `info`. */
  introduction?: ClientIntroduction | undefined;
  events: ServerEvents;
  /** The era to speak with a server that has both; default: the newer. */
  prefer?: SpokenEra | undefined;
  /** Silence allowed before a call is given up; default 60 s. */
  timeoutMs?: number | undefined;
  /** The longest a call may take; default 30 min. */
  maxTimeoutMs?: number | undefined;
  /** Silence allowed to the first question on stdio and the like; default 5 s. */
  probeMs?: number | undefined;
  limits?: Partial<Limits> | undefined;
  log?: Log | undefined;
  clock?: Clock | undefined;
  /** Of the gateway that opens it (shared/via.ts). */
  id?: string | undefined;
  onClose?: ((reason: string) => void) | undefined;
  /** Aborting gives up the opening: what was started for it is ended first. Later it means nothing. */
  signal?: AbortSignal | undefined;
}

/** A route instead of an address leads to servers that no address reaches: those of a test, in memory. */
export async function openUpstream(address: Address | Route, options: UpstreamOptions): Promise<Upstream> {
  const log = options.log ?? createLog();
  checkRevision(options.revision);
  const { clock = systemClock } = options;
  const { id } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const route = isRoute(address) ? address : routeTo(address, { limits, log, clock, id });
  let live: Link | undefined;
  let upstream: Upstream | undefined;
  const negotiation: NegotiateOptions = {
    intro: {
      info: options.info,
      ...options.introduction,
      capabilities: options.capabilities,
      ...toRevisionPin(options),
    },
    identity: { info: options.info, capabilities: withTasks(toClientCapabilities(options.capabilities, STATELESS)) },
    // Of the request for which it is opened, or opened again.
    via: () => (id === undefined ? undefined : viaFrom(id)),
    events: options.events,
    prefer: options.prefer ?? 'stateless',
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
        maxTimeoutMs: options.maxTimeoutMs ?? 30 * 60_000,
        onClose: (reason) => link === live && options.onClose?.(reason), // not for one that was tried and left
        onSilence: () => upstream?.checkAlive(limits.pingMs),
      });
      await wire.start();
      return wire;
    },
  };
  const giveUp = (): void => void live?.close();
  options.signal?.addEventListener('abort', giveUp);
  try {
    return (upstream = new Upstream(await negotiateConnection(route, negotiation), negotiation));
  } finally {
    options.signal?.removeEventListener('abort', giveUp);
  }
}

function isRoute(address: Address | Route): address is Route {
  return typeof address === 'object' && 'canReopen' in address;
}

export class Upstream {
  #connected: NegotiatedConnection;
  readonly #negotiation: NegotiateOptions;
  readonly #subscriptions = new ServerSubscriptions();
  #healing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #isChecked = false;
  /** How many messages had come when it was opened. */
  readonly #heardAtFirst: number;

  constructor(connected: NegotiatedConnection, negotiation: NegotiateOptions) {
    this.#connected = connected;
    this.#negotiation = negotiation;
    this.#heardAtFirst = connected.wire.heard;
  }

  /** The server has said something since it was opened. */
  get hasServed(): boolean {
    return this.#connected.wire.heard > this.#heardAtFirst;
  }

  get server(): ServerView {
    return this.#connected.speaker.server;
  }

  get transport(): Link['kind'] {
    return this.#connected.link.kind;
  }

  async call(call: OutgoingCall): Promise<JsonObject> {
    return toPlainObject(await this.relay(call));
  }

  /** The same for a caller that only passes the result on: where nobody had to read it, it is not read. */
  relay(call: OutgoingCall): Promise<ResultObject> {
    return this.#healed((speaker) => speaker.call(call));
  }

  notify(method: string, params?: JsonObject, sender?: Sender): Promise<void> {
    return this.#healed((speaker) => speaker.notify(method, params, sender));
  }

  /** Wants to hear of changed lists. */
  watch(): void {
    this.#connected.speaker.watch();
  }

  /** Each needs an `unsubscribe` of its own: only the first and the last reach the server. All who subscribe get its result. */
  subscribe(uri: string, said?: SubscribeOptions): Promise<JsonObject> {
    return this.#subscriptions.add(uri, () => this.#healed((speaker) => speaker.subscribe(uri, said)));
  }

  unsubscribe(uri: string, said?: SubscribeOptions): Promise<JsonObject> {
    if (!this.#subscriptions.remove(uri)) return Promise.resolve({});
    return this.#healed((speaker) => speaker.unsubscribe(uri, said));
  }

  /** A server that tells of tasks without being asked is not asked. */
  followTask(taskId: string): Promise<void> {
    return this.#healed(async (speaker) => speaker.followTask?.(taskId));
  }

  async setLogLevel(level: string): Promise<void> {
    await this.#healed((speaker) => speaker.setLogLevel(level));
    this.#subscriptions.logLevel = level;
  }

  /** Nobody uses it any more, though the server may still be at work. */
  mute(): void {
    this.#connected.wire.mute();
  }

  /** Asks a server that has fallen silent whether it is alive, once at a time. One that is not is given up: its calls fail, and its process ends. */
  checkAlive(pingMs: number): void {
    if (this.#isChecked || this.#closing) return;
    this.#isChecked = true;
    const { wire, link } = this.#connected;
    const { heard } = wire;
    this.call({ method: 'ping', timeoutMs: pingMs })
      .catch((thrown: unknown) => {
        const isTimeout = thrown instanceof GatewayError && thrown.code === 'UPSTREAM_TIMEOUT';
        if (!isTimeout || wire.heard > heard) return; // any word, an error too, is a sign of life
        wire.onClose(`it hangs: no answer to a ping within ${pingMs} ms after a call had timed out`);
        void link.close();
      })
      .finally(() => (this.#isChecked = false));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.mute();
    await this.#connected.speaker.leave();
    await this.#connected.link.close();
  }

  #healed<T>(work: (speaker: NegotiatedConnection['speaker']) => Promise<T>): Promise<T> {
    const { speaker } = this.#connected;
    const done = work(speaker);
    return this.#hasSessions ? done.catch((thrown: unknown) => this.#again(thrown, speaker, work)) : done;
  }

  async #again<T>(
    thrown: unknown,
    speaker: NegotiatedConnection['speaker'],
    work: (speaker: NegotiatedConnection['speaker']) => Promise<T>,
  ): Promise<T> {
    if (!(thrown instanceof GatewayError) || thrown.details.session !== 'lost') throw thrown;
    if (speaker === this.#connected.speaker) {
      this.#healing ??= this.#heal().finally(() => (this.#healing = undefined));
      await this.#healing;
    }
    return work(this.#connected.speaker);
  }

  get #hasSessions(): boolean {
    return this.server.dialect !== 'stateless' && this.#connected.link.forgetSession !== undefined;
  }

  async #heal(): Promise<void> {
    const speaker = await reinitialize(this.#connected, this.#negotiation);
    this.#connected = { ...this.#connected, speaker };
    await this.#subscriptions.repeatTo(speaker);
  }
}

function checkRevision(revision: string | undefined): void {
  if (revision === undefined || ALL_REVISIONS.includes(revision)) return;
  const reason = `"${revision}" is unknown; use one of ${ALL_REVISIONS.join(', ')}`;
  throw new GatewayError('BAD_OPTION', { option: 'revision', reason });
}
