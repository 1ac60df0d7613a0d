// A link to a server behind a WebSocket, subprotocol `mcp`: one JSON message per text frame. Invariants:
// 1. A frame that is binary or not a message is skipped. An oversize frame ends the connection with 1009, because the protocol
//    cannot skip it unread.
// 2. `send` resolves when the socket has taken the message, so a server that does not read holds its callers back.
// 3. Compression is off: it costs more than it saves on small messages.
// 4. Pings detect a lost server, also while no call is pending.
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { Message } from '../../../kernel/message.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { DEFAULT_LIMITS } from '../../../kernel/base/limits.ts';
import { VIA_HEADER, ownVia, writeVia } from '../../../kernel/base/via.ts';
import { settledWithin } from '../../../kernel/base/timing.ts';
import { answerPings, keepAlive } from '../../wire/websocket/websocket-pings.ts';
import { PacedReader } from '../../wire/paced-reader.ts';
import { writeMessage } from '../../wire/json-rpc.ts';
import { MAX_IN_STREAM, toPieces } from '../../wire/write-batcher.ts';
import { HttpRefusal } from '../http/http-refusal.ts';
import { describeNetworkError } from '../links/describe-network-error.ts';
import { Inbox } from '../links/inbox.ts';
import type { LinkLimits } from '../links/inbox.ts';
import type { Link, LinkEvents } from '../links/link.ts';
import { UnreadQueue } from '../links/unread-queue.ts';

export interface WebSocketLinkOptions {
  url: string | URL;
  headers?: Record<string, string> | undefined;
  limits?: LinkLimits | undefined;
  /** The id of the gateway that opens it (kernel/base/via.ts). */
  id?: string | undefined;
  /** How long the handshake may take. */
  startMs?: number | undefined;
  clock?: Clock | undefined;
}

export function createWebSocketLink(options: WebSocketLinkOptions): Link {
  return new WebSocketLink(options);
}

/** How long the server may take to close before the socket is destroyed. */
const GOODBYE_MS = 1000;
/** Stands for a binary frame, which is skipped. */
const BINARY = Buffer.alloc(0);

class WebSocketLink implements Link {
  readonly kind = 'websocket';
  readonly perRequestStreams = false;
  readonly name: string;
  readonly #options: WebSocketLinkOptions;
  readonly #url: URL;
  readonly #inbox: Inbox;
  readonly #unread: UnreadQueue;
  #socket: WebSocket | undefined;
  #out: FragmentQueue | undefined;
  #closed: Promise<void> | undefined;
  #lastError: string | undefined;

  constructor(options: WebSocketLinkOptions) {
    this.#options = options;
    this.#url = toWebSocketUrl(options.url);
    this.#inbox = new Inbox(options.limits);
    this.name = `${this.#url.protocol}//${this.#url.host}${this.#url.pathname}`;
    this.#unread = new UnreadQueue({
      server: this.name,
      inbox: this.#inbox,
      length: () => this.#out?.length ?? 0,
      giveUp: (reason) => this.#giveUp(reason),
    });
  }

  async start(events: LinkEvents): Promise<void> {
    this.#inbox.open(events);
    const { headers = {}, startMs = 10_000, id } = this.#options;
    const via = id === undefined ? {} : { [VIA_HEADER]: writeVia(ownVia(id)) };
    const socket = new WebSocket(this.#url, 'mcp', {
      headers: { ...headers, ...via },
      maxPayload: this.#inbox.maxBytes,
      perMessageDeflate: false,
      handshakeTimeout: startMs,
      autoPong: false,
    });
    this.#socket = socket;
    this.#out = new FragmentQueue(socket, () => this.#unread.taken());
    this.#closed = new Promise((resolve) => socket.once('close', () => resolve()));
    const paced = this.#pace(socket);
    answerPings(socket, { isHeld: () => paced.isWaiting });
    socket.once('close', () => {
      paced.end();
      this.#out?.flush(); // what a closed socket refuses still counts as buffered, so nothing else would be handed to it
      this.#unread.end();
    });
    socket.on('error', (error) => (this.#lastError = describeNetworkError(error)));
    // Before it is open: the first frame may arrive together with the answer to the handshake. Its data is of the default type of `ws`.
    socket.on('message', (data, isBinary) => paced.push(isBinary ? BINARY : (data as Buffer)));
    await this.#opened(socket);
  }

  async send(message: Message): Promise<void> {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) throw this.#closedError();
    const text = writeMessage(message);
    this.#unread.admit(text.length);
    const taken = this.#out!.send(text);
    this.#unread.count();
    try {
      await taken;
    } catch (error) {
      throw this.#closedError((error as Error).message);
    }
  }

  async close(): Promise<void> {
    if (this.#socket?.readyState === WebSocket.CONNECTING) this.#socket.terminate();
    this.#out?.flush();
    this.#socket?.close(1000);
    if (this.#closed !== undefined && !(await settledWithin(this.#closed, GOODBYE_MS))) this.#socket?.terminate();
    await this.#closed;
    this.#inbox.close('closed');
  }

  async #opened(socket: WebSocket): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject).once('open', () => {
          socket.once('close', (code, reason) => this.#inbox.close(this.#reason(code, String(reason))));
          this.#keepAlive(socket);
          resolve();
        });
        socket.once('unexpected-response', (_, response) => reject(toRefusal(response)));
      });
    } catch (error) {
      socket.terminate();
      const reason = describeNetworkError(error);
      this.#inbox.abandon(reason);
      if (error instanceof HttpRefusal) throw error;
      throw new GatewayError('UPSTREAM_UNREACHABLE', { server: this.name, reason }, { cause: error });
    }
  }

  /** What waits for it would fill the memory. */
  #giveUp(reason: string): void {
    this.#lastError = reason;
    this.#socket?.terminate();
  }

  #keepAlive(socket: WebSocket): void {
    const { clock = systemClock, limits } = this.#options;
    keepAlive(socket, {
      clock,
      everyMs: limits?.keepAliveMs ?? DEFAULT_LIMITS.keepAliveMs,
      onGone: (silentMs) => (this.#lastError = `it has been silent for ${silentMs} ms and does not answer pings`),
    });
  }

  #pace(socket: WebSocket): PacedReader {
    const inbox = this.#inbox;
    const reader = {
      lines: 0,
      push(frame: Buffer) {
        this.lines++;
        if (frame === BINARY) inbox.garbage('a binary frame');
        else inbox.take(frame);
      },
    };
    return new PacedReader({ reader, inbox, source: socket, isWhole: true });
  }

  #reason(code: number, said: string): string {
    const words = said || this.#lastError;
    return words === undefined ? `closed with ${code}` : `closed with ${code}: ${words}`;
  }

  #closedError(reason = 'it is not connected'): GatewayError {
    return new GatewayError('UPSTREAM_CLOSED', { server: this.name, reason: this.#inbox.closedBy ?? reason });
  }
}

function toWebSocketUrl(text: string | URL): URL {
  const url = URL.canParse(String(text)) ? new URL(text) : undefined;
  if (url?.protocol === 'ws:' || url?.protocol === 'wss:') return url;
  throw new GatewayError('BAD_OPTION', { option: 'url', reason: 'a ws: or wss: URL is needed' });
}

/** The status is evidence enough; the body of a refused upgrade is an error page. */
function toRefusal(response: IncomingMessage): HttpRefusal {
  response.resume();
  return new HttpRefusal(response.statusCode ?? 0, response.statusMessage ?? '');
}

interface Fragment {
  text: string;
  bytes: number;
  /** Called for the last fragment of a message. */
  onTaken: ((error?: Error) => void) | undefined;
}

/**
 * Sends large messages in fragments, a few at a time: a socket says only when the last byte of a frame is taken, and until then a server that reads
 * slowly looks like one that does not read. A small message is one frame.
 */
export class FragmentQueue {
  readonly #socket: Pick<WebSocket, 'send' | 'bufferedAmount'>;
  readonly #onTaken: () => void;
  readonly #waiting: Fragment[] = [];
  #waitingBytes = 0;

  /** `onTaken`: the socket has taken something. */
  constructor(socket: Pick<WebSocket, 'send' | 'bufferedAmount'>, onTaken: () => void) {
    this.#socket = socket;
    this.#onTaken = onTaken;
  }

  /** The number of unsent bytes. */
  get length(): number {
    return this.#socket.bufferedAmount + this.#waitingBytes;
  }

  /** Resolves when the socket has taken the message. */
  send(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const pieces = text.length > MAX_IN_STREAM ? toPieces(text) : undefined;
      const last = pieces?.pop() ?? text;
      for (const piece of pieces ?? []) this.#add(piece, undefined);
      this.#add(last, (error) => (error ? reject(error) : resolve()));
      this.#put(MAX_IN_STREAM);
    });
  }

  /** Hands all to the socket, which is about to close, or refuses everything because it has closed. */
  flush(): void {
    this.#put(Infinity);
  }

  #add(text: string, onTaken: Fragment['onTaken']): void {
    const bytes = Buffer.byteLength(text);
    this.#waiting.push({ text, bytes, onTaken });
    this.#waitingBytes += bytes;
  }

  #put(most: number): void {
    while (this.#socket.bufferedAmount < most) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#waitingBytes -= next.bytes;
      this.#socket.send(next.text, { fin: next.onTaken !== undefined }, (error) => {
        next.onTaken?.(error);
        if (!error) this.#onTaken();
        this.#put(MAX_IN_STREAM);
      });
    }
  }
}
