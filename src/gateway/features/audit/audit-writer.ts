// Writes the audit log: JSON lines, chained by hashes, with signed checkpoints.
// 1. Recording costs a call no disk: lines wait in memory, at most FLUSH_MS or MAX_WAITING of them. Approvals are written at once.
// 2. Each process writes a chain of its own, so processes never wait for each other. A new chain names the heads of those before it.
// 3. If the log cannot be written, the gateway continues. That is logged once, and the number of missing lines is recorded when writing works again.
import type { KeyObject } from 'node:crypto';
import { fstatSync, ftruncateSync, writeSync, closeSync, openSync, readSync } from 'node:fs';
import type { AuditEvent } from '../../../kernel/audit.ts';
import type { ObservedCall } from '../../../kernel/events/observed-call.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { lazyCrypto } from '../../../kernel/crypto/lazy-crypto.ts';
import { DEFAULT_LIMITS } from '../../../kernel/base/limits.ts';
import type { Limits } from '../../../kernel/base/limits.ts';
import { createLog } from '../../../kernel/base/log.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { version } from '../../../kernel/version.ts';
import type { AuditHead } from './audit-heads.ts';
import type { AuditLogOptions } from './audit-log-options.ts';
import {
  closeQuietly,
  createAuditFile,
  createChainId,
  dropOldest,
  prepareFolder,
  listAuditFiles,
  loadSigningKey,
  toPublicText,
} from './audit-folder.ts';
import { checkpointText, startText, toBody, readLine } from './audit-lines.ts';
import { CallBodies } from './call-bodies.ts';
import { WaitingLines, hashLine } from './chained-lines.ts';
import type { ChainLink } from './chained-lines.ts';

const FLUSH_MS = 500;
const MAX_WAITING = 256;
/** Lines between two signatures, and how long lines may stay without one. */
const CHECKPOINT_LINES = 1024;
const CHECKPOINT_MS = 60_000;

export class AuditWriter {
  readonly #folder: string;
  readonly #limits: Limits;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #onHead: ((head: AuditHead) => void) | undefined;
  readonly #chain = createChainId();
  readonly #refusals = new RefusalCount();
  readonly #calls = new CallBodies();
  readonly #waiting = new WaitingLines();
  #stopFlush: (() => void) | undefined;
  #stopSigning: (() => void) | undefined;
  #file: { fd: number; bytes: number } | undefined;
  #key: KeyObject | undefined;
  #part = 0;
  /** The number of the next line. Changed only when lines are written, as is the last line with a hash. */
  #seq = 0;
  #link: ChainLink;
  /** The number of the last signed line. */
  #signed = -1;
  #signedAt: number;
  /** Since the last line that could be written. */
  #lost = 0;
  /** In all. */
  lost = 0;
  #hasFailed = false;
  #isClosed = false;

  constructor(
    { folder, limits, log = createLog(), clock = systemClock }: AuditLogOptions,
    onHead?: (head: AuditHead) => void,
  ) {
    this.#onHead = onHead;
    this.#folder = folder;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#log = log;
    this.#clock = clock;
    this.#signedAt = clock.now();
  }

  record(event: AuditEvent): void {
    if (this.#isClosed) return;
    const at = this.#clock.now();
    if (event.kind === 'refusal' && !this.#refusals.admits(event, at)) return;
    this.#add(at, toBody(event));
    if (event.kind === 'approval') this.#flush();
  }

  /** A call, without an event in between. False if it needs one. */
  recordCall(call: ObservedCall, outcome: string | undefined): boolean {
    const body = this.#calls.of(call, outcome);
    if (body !== undefined && !this.#isClosed) this.#add(this.#clock.now(), body);
    return body !== undefined;
  }

  #add(at: number, body: string): void {
    this.#waiting.add(at, body);
    if (this.#waiting.count >= MAX_WAITING) this.#flush();
    else this.#stopFlush ??= this.#clock.after(FLUSH_MS, () => this.#flush());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#flush();
    this.#isClosed = true;
    this.#stopTimers();
    if (!this.#file) return;
    this.#attempt(() => this.#append('end'), 0);
    closeQuietly(this.#file.fd);
    this.#file = undefined;
  }

  /** Never throws. */
  #flush(): void {
    this.#stopTimers();
    const waiting = this.#waiting;
    for (const { at, event } of this.#refusals.take(this.#clock.now())) waiting.add(at, toBody(event));
    if (waiting.count > 0) this.#attempt(() => this.#write(), waiting.count);
    else if (this.#isUnsigned) this.#attempt(() => this.#append('checkpoint'), 0);
    if (this.#isUnsigned) this.#stopSigning = this.#clock.after(this.#msToSigning, () => this.#flush());
  }

  #stopTimers(): void {
    this.#stopFlush?.();
    this.#stopSigning?.();
    this.#stopFlush = this.#stopSigning = undefined;
  }

  /** If signing has failed, or the system time was changed, it takes the whole time again. */
  get #msToSigning(): number {
    const left = this.#signedAt + CHECKPOINT_MS - this.#clock.now();
    return left > 0 && left < CHECKPOINT_MS ? left : CHECKPOINT_MS;
  }

  get #isUnsigned(): boolean {
    return this.#file !== undefined && this.#seq - 1 > this.#signed;
  }

  #attempt(work: () => void, count: number): void {
    try {
      work();
      this.#hasFailed = false;
    } catch (error) {
      this.#lost += count;
      this.lost += count;
      if (this.#hasFailed) return;
      this.#hasFailed = true;
      this.#log.error({ error, folder: this.#folder }, 'audit.failed');
    }
  }

  #write(): void {
    const waiting = this.#waiting;
    try {
      this.#prepareFile();
    } catch (thrown) {
      waiting.clear(this.#seq);
      throw thrown;
    }
    const now = this.#clock.now();
    const isDue = this.#seq + waiting.count - this.#signed > CHECKPOINT_LINES || now - this.#signedAt >= CHECKPOINT_MS;
    this.#append(isDue ? 'checkpoint' : undefined);
  }

  /** Opens a file if there is none, if this one is full, or if somebody has removed it. */
  #prepareFile(): void {
    const { maxAuditFileBytes } = this.#limits;
    if (this.#file && this.#file.bytes < maxAuditFileBytes && fstatSync(this.#file.fd).nlink > 0) return;
    prepareFolder(this.#folder);
    this.#key ??= loadSigningKey(this.#folder);
    if (this.#file) this.#attempt(() => this.#sign('checkpoint', new WaitingLines()), 0);
    const { maxAuditBytes, maxAuditFiles } = this.#limits;
    const dropped = dropOldest(this.#folder, {
      maxBytes: maxAuditBytes - maxAuditFileBytes,
      maxFiles: maxAuditFiles - 1,
    });
    const after = this.#part === 0 ? headsOf(this.#folder) : [];
    const now = new Date(this.#clock.now());
    const { fd } = createAuditFile(this.#folder, { chain: this.#chain, part: this.#part, now });
    if (this.#file) closeQuietly(this.#file.fd);
    this.#file = { fd, bytes: 0 };
    const { pid } = process;
    const about = { chain: this.#chain, part: this.#part++, pid, version: version(), key: toPublicText(this.#key) };
    const details = { ...about, ...(after.length > 0 && { after }), ...(dropped.length > 0 && { dropped }) };
    const sig = this.#signText(startText(details));
    try {
      const lines = new WaitingLines();
      lines.clear(this.#seq);
      lines.add(now.getTime(), toBody({ kind: 'start', details, sig }));
      this.#put(lines, lines.seal(this.#link));
    } catch (thrown) {
      closeQuietly(fd); // a file without its first line is worth nothing
      this.#file = undefined;
      throw thrown;
    }
  }

  /** Writes what waits. */
  #append(closing: 'checkpoint' | 'end' | undefined): void {
    const waiting = this.#waiting;
    waiting.renumber(this.#seq);
    try {
      if (this.#lost > 0) waiting.add(this.#clock.now(), toBody({ kind: 'lost', details: { lines: this.#lost } }));
      if (closing) this.#sign(closing, waiting);
      else this.#put(waiting, waiting.seal(this.#link));
      this.#lost = 0;
    } finally {
      waiting.clear(this.#seq);
    }
  }

  /** Writes lines, and a signed one behind them. */
  #sign(kind: 'checkpoint' | 'end', lines: WaitingLines): void {
    if (lines.count === 0) lines.clear(this.#seq);
    const { seq } = lines;
    const now = this.#clock.now();
    const time = new Date(now).toISOString();
    const prev = lines.hashFrom(this.#link);
    const sig = this.#signText(checkpointText(this.#chain, { kind, seq, prev, time }));
    lines.add(now, toBody({ kind, prev, sig }));
    this.#put(lines, lines.last);
    this.#signed = seq;
    this.#signedAt = now;
    this.#onHead?.({ time, chain: this.#chain, seq, hash: hashLine(this.#link!), key: toPublicText(this.#key!) });
  }

  #signText(text: string): string {
    return lazyCrypto().sign(null, Buffer.from(text), this.#key!).toString('base64url');
  }

  /** All of them, or nothing: the chain moves on only if everything is written. `link`: the last line. */
  #put(lines: WaitingLines, link: Buffer): void {
    const { bytes, seq } = lines;
    const file = this.#file!;
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(file.fd, bytes, written);
      file.bytes += bytes.length;
    } catch (thrown) {
      if (written > 0) ftruncateSync(file.fd, file.bytes);
      throw thrown;
    }
    [this.#seq, this.#link] = [seq, link];
  }
}

/** More are not named. */
const MAX_HEADS = 16;
/** No line is longer. */
const TAIL_BYTES = 64 * 1024;

/**
 * The last complete line of each of the newest chains. A new chain names them, so that an older one cannot disappear as a whole without a
 * trace.
 */
function headsOf(folder: string): { chain: string; seq: number; hash: string }[] {
  const newest = new Map(listAuditFiles(folder).map((file) => [file.chain, file.path]));
  return [...newest].slice(-MAX_HEADS).flatMap(([chain, path]) => {
    const line = lastLineIn(path);
    const read = line === undefined ? undefined : readLine(line);
    return read ? [{ chain, seq: read.seq, hash: hashLine(line!) }] : [];
  });
}

function lastLineIn(path: string): string | undefined {
  try {
    const fd = openSync(path, 'r');
    try {
      const { size } = fstatSync(fd);
      const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
      readSync(fd, tail, 0, tail.length, size - tail.length);
      return tail.toString().split('\n').at(-2);
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined; // removed meanwhile
  }
}

const WINDOW_MS = 1000;
const MAX_EACH = 10;
/** Further kinds are counted as one. */
const MAX_KINDS = 32;
const OTHERS = 'others';

/**
 * Keeps a flood of refused requests from pushing everything else out of the log: in each second the first ones of a kind are recorded one by
 * one, and the others as a number.
 */
class RefusalCount {
  #since = 0;
  #kinds = new Map<string, { seen: number; first: AuditEvent }>();
  #ended: { at: number; event: AuditEvent }[] = [];

  /** Whether this one is recorded with a line of its own. */
  admits(event: AuditEvent, at: number): boolean {
    if (at - this.#since >= WINDOW_MS) this.#start(at);
    const key = this.#keyOf(event.outcome ?? '');
    const known = this.#kinds.get(key);
    if (known) known.seen++;
    else this.#kinds.set(key, { seen: 1, first: event });
    return (known?.seen ?? 1) <= MAX_EACH;
  }

  /** The numbers of those that were not recorded by themselves. */
  take(at: number): { at: number; event: AuditEvent }[] {
    if (at - this.#since >= WINDOW_MS) this.#start(at);
    return this.#ended.splice(0);
  }

  #keyOf(outcome: string): string {
    return this.#kinds.has(outcome) || this.#kinds.size < MAX_KINDS ? outcome : OTHERS;
  }

  #start(at: number): void {
    for (const { seen, first } of this.#kinds.values()) {
      const more = seen - MAX_EACH;
      if (more > 0) this.#ended.push({ at, event: { kind: 'refusal', outcome: first.outcome, details: { more } } });
    }
    this.#kinds.clear();
    this.#since = at;
  }
}
