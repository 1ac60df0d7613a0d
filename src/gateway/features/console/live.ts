// What browsers see change while they look. Each has one stream; a frame is sent at most ten times a second, only if something is different, and never
// to one that has not read the last. Without a stream nothing is looked at.
import type { HttpResponse } from '../../../kernel/base/http.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { beginEvents } from './replies.ts';

/** What one browser gets: the parts of the next frame by their names, undefined once it may see nothing any more. */
export type MakeFrame = () => Promise<Readonly<Record<string, FramePart>> | undefined>;

export interface FramePart {
  readonly text: string;
  /** Where a browser continues that was away. */
  readonly id?: string | undefined;
}

const FRAME_MS = 100;
/** States of servers are looked at as often. */
const LOOK_MS = 1000;
const MAX_UNREAD_BYTES = 256 * 1024;
const MAX_STREAMS = 100;

interface Stream {
  readonly response: HttpResponse;
  readonly make: MakeFrame;
  /** By part. */
  readonly sent: Map<string, string>;
  isMaking: boolean;
}

export class LiveStreams {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #streams = new Set<Stream>();
  /** A frame will be sent soon. */
  #isDue = false;
  #isClosed = false;
  #stopLooking: (() => void) | undefined;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  get areAny(): boolean {
    return this.#streams.size > 0;
  }

  get isFull(): boolean {
    return this.#isClosed || this.#streams.size >= MAX_STREAMS;
  }

  open(response: HttpResponse, make: MakeFrame): void {
    const stream: Stream = { response, make, sent: new Map(), isMaking: false };
    beginEvents(response);
    this.#streams.add(stream);
    response.on('close', () => this.#leave(stream));
    void this.#send(stream);
    this.#stopLooking ??= this.#look();
  }

  /** Something is different. */
  touch(): void {
    if (this.#isDue || !this.areAny) return;
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
    this.#streams.delete(stream);
  }

  async #send(stream: Stream): Promise<void> {
    const { response, make, sent } = stream;
    if (stream.isMaking || response.writableLength > MAX_UNREAD_BYTES) return;
    stream.isMaking = true;
    try {
      const frame = await make();
      if (!frame) return void response.end();
      for (const [name, { text, id }] of Object.entries(frame)) {
        if (sent.get(name) === text || response.destroyed) continue;
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
