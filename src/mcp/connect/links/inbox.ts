// Receives what a link reads and fulfils the contract of link.ts for all transports. Invariants:
// 1. Nothing is delivered before `open` or after `close`, and `onClose` is called at most once.
// 2. Anything that is not a message goes to `onGarbage`; it never throws and never ends the link.
// 3. A batch is delivered item by item, in order; an `onClose` in between ends it.
import type { Message, RequestId } from '../../../kernel/message.ts';
import type { GatewayError } from '../../../kernel/base/errors.ts';
import { HeldShare } from '../../../kernel/base/held-bytes.ts';
import { DEFAULT_LIMITS } from '../../../kernel/base/limits.ts';
import type { Limits } from '../../../kernel/base/limits.ts';
import { readMessage, refuseShape, toParsedInput } from '../../wire/json-rpc.ts';
import type { ParsedInput } from '../../wire/json-rpc.ts';
import { findId } from '../../wire/json-shape.ts';
import type { ReadLimits, ShapeExcess } from '../../wire/json-shape.ts';
import { LARGE_BYTES, readRaw } from '../../wire/raw-message.ts';
import { readFastResult } from '../../wire/fast-messages.ts';
import type { LinkEvents } from './link.ts';

/** The limits of a link. */
export type LinkLimits = Partial<
  Pick<Limits, 'maxResultBytes' | 'maxDepth' | 'maxValues' | 'maxBufferedBytes' | 'maxHeldBytes' | 'keepAliveMs'>
>;

export class Inbox {
  readonly maxBytes: number;
  /** Of what waits for a server that does not read. */
  readonly maxBufferedBytes: number;
  /** How many answers came that calls waited for. */
  answers = 0;
  isOpen = false;
  readonly #maxHeldBytes: number;
  readonly #limits: ReadLimits;
  #events: LinkEvents | undefined;
  #closedBy: string | undefined;

  constructor(limits: LinkLimits = {}) {
    this.maxBytes = limits.maxResultBytes ?? DEFAULT_LIMITS.maxResultBytes;
    const { maxDepth, maxValues, maxBufferedBytes, maxHeldBytes } = { ...DEFAULT_LIMITS, ...limits };
    this.#limits = { maxDepth, maxValues };
    this.maxBufferedBytes = maxBufferedBytes;
    this.#maxHeldBytes = maxHeldBytes;
  }

  /** Counts the messages of a server that are held against the byte budget of the process. */
  hold(server: string, cut?: () => void): HeldShare {
    return new HeldShare({ owner: `server:${server}`, maxBytes: this.#maxHeldBytes, cut });
  }

  open(events: LinkEvents): void {
    if (this.#events !== undefined || this.#closedBy !== undefined) throw new Error('a link is started once');
    this.#events = events;
    this.isOpen = true;
  }

  /** Why the link ended; undefined while it is open. */
  get closedBy(): string | undefined {
    return this.#closedBy;
  }

  /** Takes one message or batch, as text or bytes; returns the delivered messages. */
  take(written: string | Buffer, from?: RequestId): Message[] {
    if (!this.isOpen) return [];
    const large = typeof written !== 'string' && written.length >= LARGE_BYTES ? this.#readLarge(written) : undefined;
    if (large) return this.#deliver(large, from);
    const text = written.toString();
    const small = readFastResult(text, this.#limits);
    if (!small) return this.#deliver(readMessage(text, this.#limits), from, text);
    this.message(small.message, from, small.sent);
    return [small.message];
  }

  #readLarge(bytes: Buffer): ParsedInput | undefined {
    let excess: ShapeExcess | undefined;
    const message = readRaw(bytes, this.#limits, (found) => (excess = found));
    if (message) return { kind: 'message', message };
    return excess ? refuseShape(bytes, excess, this.#limits) : undefined;
  }

  /** Takes a message that the transport has already parsed. */
  value(value: unknown): Message[] {
    return this.isOpen ? this.#deliver(toParsedInput(value, this.#limits), undefined) : [];
  }

  /** Takes a valid message. */
  message(message: Message, from?: RequestId, sent?: string): void {
    if (this.isOpen && this.#events?.onMessage(message, from, sent)) this.answers++;
  }

  garbage(what: string, kind?: 'oversize', answerTo?: RequestId): void {
    if (this.isOpen) this.#events?.onGarbage(what, kind, answerTo);
  }

  /** A message was skipped. Its beginning and its end, if they are known, say which call it answers. */
  oversize(beginning = '', end = ''): void {
    const { id, isCall } = findId(beginning, end);
    const words = `message larger than ${this.maxBytes} bytes (limits.maxResultBytes)`;
    this.garbage(words, 'oversize', id === null || isCall ? undefined : id);
  }

  released(from: RequestId, retryMs: number): void {
    if (this.isOpen) this.#events?.onRelease?.(from, retryMs);
  }

  close(reason: string): void {
    if (this.#closedBy !== undefined) return;
    this.#closedBy = reason;
    this.isOpen = false;
    this.#events?.onClose(reason);
  }

  /** Called when the link cannot be started; only the rejection of `start` reports it. */
  abandon(reason: string): void {
    this.#closedBy ??= reason;
    this.isOpen = false;
  }

  #deliver(incoming: ParsedInput, from: RequestId | undefined, text?: string): Message[] {
    if (incoming.kind === 'batch') return incoming.items.flatMap((item) => this.#deliver(item, from));
    if (incoming.kind === 'refused') {
      if (incoming.isAnswer && incoming.id !== null) {
        this.garbage(excessWords(incoming.error), 'oversize', incoming.id);
        return [];
      }
      const shown = text === undefined ? '' : `: ${excerpt(text)}`;
      this.garbage(`${describe(incoming.error)}${shown}`);
      return [];
    }
    this.message(incoming.message, from);
    return [incoming.message];
  }
}

const EXCERPT_CHARS = 120;

/** The beginning of a server's output, safe to show: quoted, with control characters escaped. */
function excerpt(text: string): string {
  const start = text.length > EXCERPT_CHARS ? `${text.slice(0, EXCERPT_CHARS)}…` : text;
  // JSON does not escape these, and terminals obey some of them.
  return JSON.stringify(start).replaceAll(/[\u007F-\u009F\u2028\u2029]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function excessWords({ code, details }: GatewayError): string {
  const limit = Number(details.limit);
  if (code === 'NESTED_TOO_DEEP') return `message nested deeper than ${limit} levels (limits.maxDepth)`;
  return `message with more than ${limit} values (limits.maxValues)`;
}

function describe({ message, details }: GatewayError): string {
  return typeof details.data === 'string' ? `${message}: ${details.data}` : message;
}
