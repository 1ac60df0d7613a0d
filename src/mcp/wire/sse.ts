// Reads and writes event streams: https://html.spec.whatwg.org/multipage/server-sent-events.html
import { endlessBytes } from '../../kernel/base/limits.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { ChunkBuffer } from './chunk-buffer.ts';
import { LARGE_BYTES } from './raw-message.ts';
import type { EncodedMessage } from './json-rpc.ts';

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const DATA = Buffer.from('data:');
const BYTE_ORDER_MARK = '\uFEFF';

export interface SseEvent {
  event?: string;
  /** Set if this event has its own id; resume from the reader's lastEventId. */
  id?: string;
  retry?: number;
  /** Bytes if it is large and a single line. */
  data: string | Buffer;
}

interface SseOptions {
  /** The largest event: its lines with field names, without line ends. */
  maxBytes: number;
  onEvent(event: SseEvent): void;
  onOversize(): void;
  /** An event is far longer than the limit. */
  onEndless?(): void;
  onRetry?(ms: number): void;
}

/**
 * 1. The callbacks must not throw.
 * 2. The events do not depend on how the bytes are split into chunks.
 * 3. At most maxBytes of an event are held: a longer one is reported once and skipped. An id before the limit still counts, otherwise a
 *    resumed stream would repeat the event for ever.
 * 4. Comments are neither held nor counted: keep-alives cannot use up a stream.
 */
export class SseReader {
  readonly #options: SseOptions;
  readonly #held = new ChunkBuffer();
  /** How many were read, of all kinds. */
  lines = 0;
  #lastEventId = '';
  // The current event:
  #fields: Partial<SseEvent> = {};
  #data: (string | Buffer)[] = [];
  #eventBytes = 0;
  #isSkipping = false;
  // The current line, even if its bytes are not held:
  #lineBytes = 0;
  #isComment = false;
  #isFirstLine = true;
  #isAfterCr = false;

  constructor(options: SseOptions) {
    this.#options = options;
  }

  get lastEventId(): string {
    return this.#lastEventId;
  }

  /** The bytes of the event that is arriving. */
  get heldBytes(): number {
    return this.#isSkipping ? 0 : this.#eventBytes + this.#held.length;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    let start = this.#isAfterCr && chunk[0] === LF ? 1 : 0;
    // Each is searched again only after it is passed, so that a chunk without CR is not scanned for every line.
    let lf = find(chunk, LF, start);
    let cr = find(chunk, CR, start);
    for (let end = Math.min(lf, cr); end < chunk.length; end = Math.min(lf, cr)) {
      this.#endLine(chunk, start, end);
      this.lines++;
      start = end === cr && chunk[end + 1] === LF ? end + 2 : end + 1;
      if (lf < start) lf = find(chunk, LF, start);
      if (cr < start) cr = find(chunk, CR, start);
    }
    this.#isAfterCr = chunk[chunk.length - 1] === CR;
    if (start < chunk.length && this.#isWanted(chunk, start, chunk.length)) {
      this.#held.append(chunk, start, chunk.length);
    }
  }

  /** The stream has ended: an incomplete event is dropped. */
  end(): void {
    this.#held.clear();
    this.#lineBytes = 0;
    this.#isFirstLine = true;
    this.#isAfterCr = false;
    this.#resetEvent();
  }

  #endLine(chunk: Buffer, start: number, end: number): void {
    const isBlank = this.#lineBytes === 0 && start === end;
    let line = isBlank ? '' : this.#takeLine(chunk, start, end);
    if (typeof line === 'object' && !this.#readData(line)) line = line.toString();
    if (typeof line === 'string') {
      if (this.#isFirstLine && line.startsWith(BYTE_ORDER_MARK)) line = line.slice(1);
      if (line !== '') this.#readField(line);
    }
    this.#isFirstLine = false;
    this.#lineBytes = 0;
    if (line === '') this.#endEvent();
  }

  /** Undefined for a skipped line; a large one stays bytes. */
  #takeLine(chunk: Buffer, start: number, end: number): string | Buffer | undefined {
    const isWhole = this.#lineBytes === 0;
    if (!this.#isWanted(chunk, start, end)) return undefined;
    const isLarge = this.#lineBytes >= LARGE_BYTES;
    if (isWhole) return isLarge ? chunk.subarray(start, end) : chunk.toString('utf8', start, end);
    this.#held.append(chunk, start, end);
    return isLarge ? this.#held.takeBytes() : this.#held.take();
  }

  #isWanted(chunk: Buffer, start: number, end: number): boolean {
    if (this.#lineBytes === 0) this.#isComment = chunk[start] === COLON;
    this.#lineBytes += end - start;
    if (this.#isComment || this.#isSkipping) {
      if (this.#lineBytes > endlessBytes(this.#options.maxBytes)) this.#options.onEndless?.();
      return false;
    }
    if (this.#eventBytes + this.#lineBytes <= this.#options.maxBytes) return true;
    this.#isSkipping = true;
    this.#held.clear();
    this.#data = [];
    this.#options.onOversize();
    return false;
  }

  /** False if the line is another field. */
  #readData(line: Buffer): boolean {
    if (line.compare(DATA, 0, DATA.length, 0, DATA.length) !== 0) return false;
    this.#eventBytes += this.#lineBytes;
    this.#data.push(line.subarray(line[DATA.length] === SPACE ? DATA.length + 1 : DATA.length));
    return true;
  }

  #readField(line: string): void {
    this.#eventBytes += this.#lineBytes;
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#fields.event = value;
    else if (name === 'id' && !value.includes('\0')) this.#fields.id = value;
    else if (name === 'retry' && /^[0-9]+$/.test(value) && Number.isSafeInteger(Number(value))) {
      this.#fields.retry = Number(value);
      this.#options.onRetry?.(Number(value));
    }
  }

  #endEvent(): void {
    const fields = this.#fields;
    const data = this.#data;
    const isDispatched = data.length > 0 && !this.#isSkipping;
    this.#resetEvent();
    if (fields.id !== undefined) this.#lastEventId = fields.id;
    // An empty type means the default.
    if (fields.event === '') delete fields.event;
    if (isDispatched) this.#options.onEvent({ ...fields, data: data.length === 1 ? data[0]! : data.join('\n') });
  }

  #resetEvent(): void {
    this.#fields = {};
    this.#data = [];
    this.#eventBytes = 0;
    this.#isSkipping = false;
  }
}

/** The position of the byte, or the length of the chunk if absent. */
function find(chunk: Buffer, byte: number, from: number): number {
  const index = chunk.indexOf(byte, from);
  return index === -1 ? chunk.length : index;
}

/** The default type is `message`; data in bytes contains no line end. */
export type OutgoingEvent = Partial<Omit<SseEvent, 'data'>> & { data?: EncodedMessage };

/** A line break in a field cannot start a new field. */
export function writeEvent(event: OutgoingEvent): EncodedMessage {
  let text = '';
  if (event.event !== undefined) text += `event: ${singleLine(event.event)}\n`;
  if (event.id !== undefined) text += `id: ${singleLine(event.id)}\n`;
  if (event.retry !== undefined) text += `retry: ${event.retry}\n`;
  const { data } = event;
  if (Array.isArray(data)) return [Buffer.from(`${text}data: `), ...data, Buffer.from('\n\n')];
  if (data !== undefined) text += prefixLines('data: ', data);
  return `${text}\n`;
}

/** A comment between events; the blank line makes buffering proxies pass it on. */
export function writeComment(text: string): string {
  return `${prefixLines(': ', text)}\n`;
}

function singleLine(field: string): string {
  if (!hasLineEnd(field)) return field;
  throw new GatewayError('INTERNAL', {}, { cause: new Error('line break in a field of an event') });
}

function prefixLines(prefix: string, text: string): string {
  if (!hasLineEnd(text)) return `${prefix}${text}\n`;
  return `${prefix}${text.split(/\r\n|\r|\n/).join(`\n${prefix}`)}\n`;
}

function hasLineEnd(text: string): boolean {
  return text.includes('\n') || text.includes('\r');
}
