// Event-stream framing, both directions: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
// A line break in a field never starts a field of its own. The callbacks of the reader must not throw.
// 1. How the bytes were cut into chunks never shows in the events.
// 2. Never holds more than maxBytes of an event: a longer one is told once and skipped. An id that came before the limit
//    was passed still counts, else a resumed stream would bring the same event again and again.
// 3. Comments are neither held nor counted: keep-alives cannot use up a stream.
import { GatewayError } from '../../shared/errors.ts';
import { HeldBytes } from './held-bytes.ts';

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const BYTE_ORDER_MARK = '\uFEFF';

export interface SseEvent {
  event?: string;
  /** Only where this event has an id of its own; what to resume from is the reader's lastEventId. */
  id?: string;
  retry?: number;
  data: string;
}

export interface SseOptions {
  /** Largest event: its lines with their field names, without line ends. */
  maxBytes: number;
  onEvent(event: SseEvent): void;
  onOversize(): void;
  onRetry?(ms: number): void;
}

export function writeEvent(event: Partial<SseEvent>): string {
  let text = '';
  if (event.event !== undefined) text += `event: ${singleLine(event.event)}\n`;
  if (event.id !== undefined) text += `id: ${singleLine(event.id)}\n`;
  if (event.retry !== undefined) text += `retry: ${event.retry}\n`;
  if (event.data !== undefined) text += prefixLines('data: ', event.data);
  return `${text}\n`;
}

/** To be sent between events: the blank line makes buffering proxies pass it on. */
export function writeComment(text: string): string {
  return `${prefixLines(': ', text)}\n`;
}

export class SseReader {
  readonly #options: SseOptions;
  readonly #held = new HeldBytes();
  #lastEventId = '';
  // Of the event being read:
  #fields: Partial<SseEvent> = {};
  #data: string[] = [];
  #eventBytes = 0;
  #isSkipping = false;
  // Of the line being read, whether or not its bytes are held:
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

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    let start = this.#isAfterCr && chunk[0] === LF ? 1 : 0;
    // Each is searched for again only once it is passed: a chunk without CR is not scanned to its end for every line.
    let lf = find(chunk, LF, start);
    let cr = find(chunk, CR, start);
    for (let end = Math.min(lf, cr); end < chunk.length; end = Math.min(lf, cr)) {
      this.#endLine(chunk, start, end);
      start = end === cr && chunk[end + 1] === LF ? end + 2 : end + 1;
      if (lf < start) lf = find(chunk, LF, start);
      if (cr < start) cr = find(chunk, CR, start);
    }
    this.#isAfterCr = chunk[chunk.length - 1] === CR;
    if (start < chunk.length && this.#isWanted(chunk, start, chunk.length)) {
      this.#held.append(chunk, start, chunk.length);
    }
  }

  /** The stream is over: an event without its blank line is dropped. */
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
    if (this.#isFirstLine && line?.startsWith(BYTE_ORDER_MARK)) line = line.slice(1);
    this.#isFirstLine = false;
    if (line) this.#readField(line);
    this.#lineBytes = 0;
    if (line === '') this.#endEvent();
  }

  /** Undefined for a line whose bytes were not wanted. */
  #takeLine(chunk: Buffer, start: number, end: number): string | undefined {
    const isWhole = this.#lineBytes === 0;
    if (!this.#isWanted(chunk, start, end)) return undefined;
    if (isWhole) return chunk.toString('utf8', start, end);
    this.#held.append(chunk, start, end);
    return this.#held.take();
  }

  #isWanted(chunk: Buffer, start: number, end: number): boolean {
    if (this.#lineBytes === 0) this.#isComment = chunk[start] === COLON;
    this.#lineBytes += end - start;
    if (this.#isComment || this.#isSkipping) return false;
    if (this.#eventBytes + this.#lineBytes <= this.#options.maxBytes) return true;
    this.#isSkipping = true;
    this.#held.clear();
    this.#data = [];
    this.#options.onOversize();
    return false;
  }

  #readField(line: string): void {
    this.#eventBytes += this.#lineBytes;
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#fields.event = value;
    else if (name === 'id' && !value.includes('\0')) this.#fields.id = value;
    else if (name === 'retry') this.#readRetry(value);
  }

  #readRetry(value: string): void {
    const ms = Number(value);
    if (!/^[0-9]+$/.test(value) || !Number.isSafeInteger(ms)) return;
    this.#fields.retry = ms;
    this.#options.onRetry?.(ms);
  }

  #endEvent(): void {
    const fields = this.#fields;
    const data = this.#data;
    const isDispatched = data.length > 0 && !this.#isSkipping;
    this.#resetEvent();
    if (fields.id !== undefined) this.#lastEventId = fields.id;
    // An empty type means the default one.
    if (fields.event === '') delete fields.event;
    if (isDispatched) this.#options.onEvent({ ...fields, data: data.join('\n') });
  }

  #resetEvent(): void {
    this.#fields = {};
    this.#data = [];
    this.#eventBytes = 0;
    this.#isSkipping = false;
  }
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

/** Where the byte is, or the length of the chunk where it is not. */
function find(chunk: Buffer, byte: number, from: number): number {
  const index = chunk.indexOf(byte, from);
  return index === -1 ? chunk.length : index;
}
