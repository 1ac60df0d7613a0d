// What browsers see change while they look. Each has one stream; a frame is sent at most ten times a second, only if something is different, and never
// to one that has not read the last. Without a stream nothing is looked at.
import type { Socket } from 'node:net';
import type { HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { beginEvents } from './replies.ts';

/** What one browser gets: the parts of the next frame by their names, undefined once it may see nothing any more. */
export type MakeFrame = () => Promise<Readonly<Record<string, FramePart | undefined>> | undefined>;

export interface FramePart {
  readonly text: string;
  /** Where a browser continues that was away. */
  readonly id?: string | undefined;
}

const FRAME_MS = 100;
/** States of servers are looked at as often. */
const LOOK_MS = 1000;
const MAX_UNREAD_BYTES = 256 * 1024;
const LINGER_MS = 10_000;
const MAX_STREAMS = 100;

interface Stream {
  readonly response: HttpResponse;
  readonly make: MakeFrame;
  /** By part. */
  readonly sent: Map<string, string>;
  isMaking: boolean;
  readonly forget: () => void;
}

interface LiveStreamsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Somebody has begun to look, or nobody has looked for a while. */
  readonly onWatched: (isWatched: boolean) => void;
}

export class LiveStreams {
  readonly #onWatched: (isWatched: boolean) => void;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #streams = new Set<Stream>();
  /** A frame will be sent soon. */
  #isDue = false;
  #isClosed = false;
  #stopLooking: (() => void) | undefined;

  constructor({ clock, log, onWatched }: LiveStreamsOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#onWatched = onWatched;
  }

  get areAny(): boolean {
    return this.#streams.size > 0;
  }

  get isFull(): boolean {
    return this.#isClosed || this.#streams.size >= MAX_STREAMS;
  }

  open(response: HttpResponse, make: MakeFrame, request?: HttpRequest): void {
    const socket: Partial<Socket> | undefined = request?.socket;
    if (isOver(response) || socket?.destroyed === true) return; // it hung up while it was let in, and would never leave
    const leave = (): void => this.#leave(stream);
    const stream: Stream = {
      response,
      make,
      sent: new Map(),
      isMaking: false,
      forget: () => socket?.off?.('close', leave),
    };
    response.on('error', leave); // such as a write after somebody else has ended it
    // A response that waits behind another one has no connection yet, and does not hear of its end.
    socket?.on?.('close', leave);
    beginEvents(response);
    this.#streams.add(stream);
    this.#onWatched(true);
    response.on('close', leave);
    void this.#send(stream);
    this.#stopLooking ??= this.#look();
  }

  /** Something is different. */
  touch(): void {
    if (this.#isClosed || this.#isDue || !this.areAny) return;
    this.#isDue = true;
    this.#clock.after(FRAME_MS, () => {
      this.#isDue = false;
      for (const stream of this.#streams) void this.#send(stream);
    });
  }

  /** For good: browsers that come back are refused. */
  close(): void {
    this.#isClosed = true;
    for (const { response } of this.#streams) response.end();
    this.#stopLooking?.();
  }

  #look(): () => void {
    return this.#clock.after(LOOK_MS, () => {
      this.touch();
      this.#stopLooking = this.areAny ? this.#look() : undefined;
    });
  }

  #leave(stream: Stream): void {
    if (!this.#streams.delete(stream)) return;
    stream.forget();
    // A reload, or the way to another page, is not an end.
    this.#clock.after(LINGER_MS, () => {
      if (!this.areAny) this.#onWatched(false);
    });
  }

  async #send(stream: Stream): Promise<void> {
    const { response, make, sent } = stream;
    if (isOver(response)) return this.#leave(stream);
    if (stream.isMaking || response.writableLength > MAX_UNREAD_BYTES) return;
    stream.isMaking = true;
    try {
      const frame = await make();
      if (!frame) return void response.end();
      for (const [name, part] of Object.entries(frame)) {
        if (!part) continue;
        const { text, id } = part;
        if (sent.get(name) === text || isOver(response)) continue;
        sent.set(name, text);
        response.write(`event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${text}\n\n`);
      }
    } catch (error) {
      this.#log.error({ error }, 'console.frame-failed');
      response.end();
    } finally {
      stream.isMaking = false;
    }
  }
}

function isOver({ destroyed, writableEnded }: HttpResponse): boolean {
  return destroyed || writableEnded;
}
