// The body of a response: as it arrives (`ResponseBody`), and read up to a limit. Reading never throws: a broken or oversize body is a result.
import { parseExactly } from '../../../kernel/raw/exact-numbers.ts';
import { UNCOUNTED_BYTES } from '../../../kernel/base/held-bytes.ts';
import type { HeldShare } from '../../../kernel/base/held-bytes.ts';
import { readInTurns } from '../../wire/paced-reader.ts';

/** The connection that a body comes from. It pauses soon: chunks may still come. */
interface BodySource {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

interface BodyReader {
  onData(chunk: Buffer): void;
  /** Called last, and once; with an error if the body broke off or was destroyed. */
  onEnd(error: Error | undefined): void;
}

/** For one reader; chunks wait until the reader comes. A reader has a limit, so it may let all come; it pauses a body that floods it. */
export class ResponseBody {
  readonly #source: BodySource;
  #reader: BodyReader | undefined;
  #waiting: Buffer[] = [];
  #isOver = false;
  #error: Error | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  pause(): void {
    if (!this.#isOver) this.#source.pause();
  }

  /** Also when it is over: the connection may be used again. */
  resume(): void {
    this.#source.resume();
  }

  read(reader: BodyReader): void {
    const [waiting, wasOver] = [this.#waiting, this.#isOver];
    this.#waiting = [];
    this.#reader = reader;
    for (const chunk of waiting) if (wasOver || !this.#isOver) reader.onData(chunk);
    if (wasOver) reader.onEnd(this.#error); // otherwise `end` calls it
  }

  /** Drops the rest, and closes the connection. */
  destroy(): void {
    if (this.#isOver) return;
    const reason = new Error('aborted');
    this.end(reason);
    this.#source.abort(reason);
  }

  push(chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#reader) this.#reader.onData(chunk);
    else this.#waiting.push(chunk);
  }

  end(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#reader?.onEnd(error);
  }
}

export type BodyContent = { kind: 'whole'; bytes: Buffer } | { kind: 'oversize' } | { kind: 'broken'; reason: string };

/** Why something was cut off. */
export const OVER_BUDGET = 'the process holds too many bytes already (limits.maxHeldBytes)';

/** Calls back once, when the body ends. */
export function readResponseBody(
  body: ResponseBody,
  maxBytes: number,
  told: (content: BodyContent) => void,
  hold?: (cut: () => void) => HeldShare,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let holding: HeldShare | undefined;
  body.read({
    onData(chunk) {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBytes) return body.destroy();
      if (!hold || bytes <= UNCOUNTED_BYTES) return;
      holding ??= hold(() => body.destroy());
      holding.set(bytes);
      readInTurns(body, bytes, chunk.length);
    },
    onEnd(error) {
      holding?.release();
      if (bytes > maxBytes) told({ kind: 'oversize' });
      else if (holding?.isCut) told({ kind: 'broken', reason: OVER_BUDGET });
      else if (error) told({ kind: 'broken', reason: error.message });
      else told({ kind: 'whole', bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) });
    },
  });
}

const MAX_DISCARDED_BYTES = 128 * 1024;

/** Reads and drops the body so that the connection can be reused; closes the connection if the body is long. */
export function discardBody(body: ResponseBody): Promise<void> {
  return new Promise((resolve) => readResponseBody(body, MAX_DISCARDED_BYTES, () => resolve()));
}

const MAX_ERROR_CHARS = 2048;

export function parseJsonOrText(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return text.slice(0, MAX_ERROR_CHARS);
  }
}

/** Seconds, or a date. */
export function retryAfterMs(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
