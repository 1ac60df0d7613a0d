// Sends the heads of the audit log elsewhere as they are signed, so that `parley audit verify --heads` also finds a log that somebody with the key
// has replaced. It never delays or fails the log: heads that could not be sent wait, and go with the next one.
import { appendFileSync, readFileSync } from 'node:fs';
import { isObject } from '../../../kernel/message.ts';
import { createLog } from '../../../kernel/base/log.ts';
import type { Log } from '../../../kernel/base/log.ts';

/** A signed line of the log. */
export interface AuditHead {
  /** ISO 8601. */
  readonly time: string;
  readonly chain: string;
  /** The number of the line in its chain, and its hash. */
  readonly seq: number;
  readonly hash: string;
  /** The public key of the log. */
  readonly key: string;
}

/** Delivers heads as JSON lines, at once where it returns nothing. Throws or rejects if it is not known that they arrived. */
type Deliver = (lines: readonly string[]) => Promise<void> | undefined;

/** Further ones are dropped, oldest first: a later head of a chain says more than an earlier one. */
const MAX_WAITING = 1000;
const SEND_MS = 10_000;
const SYSLOG_PORT = 514;
/** Facility 13 (log audit), severity 5 (notice). */
const PRIORITY = 13 * 8 + 5;

export class HeadSender {
  readonly #deliver: Deliver;
  readonly #log: Log;
  readonly #to: string;
  #waiting: string[] = [];
  #sending: Promise<void> | undefined;
  #isSending = false;
  #hasFailed = false;

  /** `to`: the path of a file, or an `http:`, `https:` or `syslog:` URL. */
  constructor(to: string, log = createLog()) {
    this.#to = to;
    this.#log = log;
    this.#deliver = delivererTo(to);
  }

  /** A file is written before this returns, so that the last head is not lost when the process exits. */
  send(head: AuditHead): void {
    this.#waiting.push(JSON.stringify(head));
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    this.#start();
  }

  /** Resolves when everything was sent, or could not be. */
  async close(): Promise<void> {
    await this.#sending;
    this.#start();
    await this.#sending;
  }

  #start(): void {
    if (!this.#isSending) this.#sending = this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    try {
      while (this.#waiting.length > 0) {
        const lines = [...this.#waiting];
        const sent = this.#deliver(lines);
        if (sent) await sent;
        this.#waiting = this.#waiting.filter((line) => !lines.includes(line));
        this.#hasFailed = false;
      }
    } catch (error) {
      if (!this.#hasFailed) this.#log.error({ error, to: withoutSecrets(this.#to) }, 'audit.heads.failed');
      this.#hasFailed = true;
    } finally {
      this.#isSending = false;
    }
  }
}

export function isHeadUrl(to: string): boolean {
  return /^(?:https?|syslog):\/\//i.test(to);
}

function delivererTo(to: string): Deliver {
  if (!isHeadUrl(to)) return (lines) => append(to, lines);
  const url = new URL(to);
  return url.protocol === 'syslog:' ? (lines) => toSyslog(url, lines) : (lines) => post(url, lines);
}

function append(path: string, lines: readonly string[]): undefined {
  appendFileSync(path, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
}

async function post(url: URL, lines: readonly string[]): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: lines.map((line) => `${line}\n`).join(''),
    redirect: 'error',
    signal: AbortSignal.timeout(SEND_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
}

/** RFC 5424 over UDP (RFC 5426): a datagram for each head. */
async function toSyslog({ hostname: host, port }: URL, lines: readonly string[]): Promise<void> {
  const address = host.replace(/^\[|\]$/g, '');
  const socket = process.getBuiltinModule('node:dgram').createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const own = process.getBuiltinModule('node:os').hostname().slice(0, 255) || '-';
  try {
    for (const line of lines) {
      const text = `<${PRIORITY}>1 ${new Date().toISOString()} ${own} parley ${process.pid} audit-head - ${line}`;
      await new Promise<void>((resolve, reject) => {
        socket.send(text, Number(port) || SYSLOG_PORT, address, (error) => (error ? reject(error) : resolve()));
      });
    }
  } finally {
    socket.close();
  }
}

/** A path or a query may hold a token. */
function withoutSecrets(to: string): string {
  return isHeadUrl(to) ? `${new URL(to).protocol}//${new URL(to).host}` : to;
}

/** The heads in a file: JSON lines, also behind what a syslog daemon wrote before them. Throws if it cannot be read. */
export function readHeads(path: string): AuditHead[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => toHead(line.slice(Math.max(0, line.indexOf('{')))) ?? []);
}

function toHead(text: string): AuditHead | undefined {
  try {
    const head: unknown = JSON.parse(text);
    if (!isObject(head) || !Number.isSafeInteger(head.seq)) return undefined;
    const isHead = [head.time, head.chain, head.hash, head.key].every((one) => typeof one === 'string');
    return isHead ? (head as unknown as AuditHead) : undefined;
  } catch {
    return undefined;
  }
}
