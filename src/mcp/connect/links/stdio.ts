// A link to a child process: one JSON message per line on its stdin and stdout. Invariants:
// 1. The child starts without a shell, in its own environment and process group.
// 2. `onClose` comes after the child was reaped, its group has ended, and all its output was delivered.
// 3. A broken pipe (EPIPE) is reported by `send` or `onClose`; it never throws into the process.
// The child's stderr explains its exit, and is never read as messages.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { Message } from '../../../kernel/message.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { UNCOUNTED_BYTES } from '../../../kernel/base/held-bytes.ts';
import type { HeldShare } from '../../../kernel/base/held-bytes.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { settledWithin, unlessAborted } from '../../../kernel/base/timing.ts';
import { MASKED, Secrets, isMixed, secrets } from '../../../kernel/secrets/secrets.ts';
import { writeMessage } from '../../wire/json-rpc.ts';
import { LineReader } from '../../wire/lines.ts';
import { PacedReader } from '../../wire/paced-reader.ts';
import { WriteBatcher } from '../../wire/write-batcher.ts';
import { ProcessGroup, takePrestarted } from './server-process.ts';
import { CONFINEMENTS } from '../confinements.ts';
import type { ServerCommand } from './server-command.ts';
import { Inbox } from './inbox.ts';
import type { LinkLimits } from './inbox.ts';
import type { Link, LinkEvents, SendOptions } from './link.ts';
import { UnreadQueue } from './unread-queue.ts';

/** `env` is added to the few inherited variables. */
export interface StdioLinkOptions extends ServerCommand {
  limits?: LinkLimits | undefined;
  log?: Log | undefined;
  /** Throws if the command must not be started as it is now; asked right before. */
  checkStart?: (() => void) | undefined;
  /** How long the server may take to exit after its stdin closes, and again after SIGTERM. */
  stopMs?: number | undefined;
}

export function createStdioLink(options: StdioLinkOptions): Link {
  return new StdioLink(options);
}

/** For a pipe that a process outside the group still holds open. */
const DRAIN_MS = 1000;

class StdioLink implements Link {
  readonly kind = 'stdio';
  readonly perRequestStreams = false;
  /** Without the arguments, which may hold secrets. */
  readonly name: string;
  readonly #options: StdioLinkOptions;
  readonly #inbox: Inbox;
  readonly #tail: StderrTail;
  #out: WriteBatcher | undefined;
  /** Made when something large is sent. */
  #unread: UnreadQueue | undefined;
  #started: Promise<ProcessGroup> | undefined;
  #ended: Promise<void> | undefined;
  readonly #closeAsked = new AbortController();
  /** Why we end the server. */
  #givenUp: string | undefined;

  constructor(options: StdioLinkOptions) {
    this.name = options.command;
    this.#options = options;
    this.#tail = new StderrTail(options.env);
    this.#inbox = new Inbox(options.limits);
  }

  async start(events: LinkEvents): Promise<void> {
    this.#inbox.open(events);
    this.#started = this.#spawn();
    const group = await this.#started;
    this.#out = new WriteBatcher(group.child.stdin, { toError: ({ message }) => this.#brokenError(message) });
    this.#read(group);
    this.#ended = this.#live(group);
  }

  /** Settles when the pipe has taken the line, so a server that does not read holds its callers back. */
  send(message: Message, { others }: SendOptions = {}): Promise<void> {
    try {
      if (this.#out === undefined || this.#closeAsked.signal.aborted) throw this.#closedError('it is not running');
      const line = `${writeMessage(message)}\n`;
      const isMuch = this.#out.length + line.length > UNCOUNTED_BYTES;
      return isMuch ? this.#sendMuch(this.#out, line, others) : this.#out.send(line, others);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  #sendMuch(out: WriteBatcher, line: string, others: boolean | undefined): Promise<void> {
    const unread = (this.#unread ??= this.#watchQueue(out));
    unread.admit(line.length);
    const taken = out.send(line, others);
    unread.count();
    return taken;
  }

  #watchQueue(out: WriteBatcher): UnreadQueue {
    const unread = new UnreadQueue({
      server: this.name,
      inbox: this.#inbox,
      length: () => out.length,
      giveUp: (reason) => this.#giveUp(reason),
    });
    out.onTaken = () => unread.taken();
    return unread;
  }

  /** Its calls fail now, so that the next one starts another process and does not find this one while it ends. */
  #giveUp(reason: string): void {
    this.#givenUp ??= reason;
    this.#closeAsked.abort();
    this.#inbox.close(reason);
  }

  lastWords(): string {
    return this.#tail.text();
  }

  async close(): Promise<void> {
    this.#closeAsked.abort();
    // Waits for a child that is still starting: it would be left running otherwise.
    await this.#started?.catch(() => undefined);
    await this.#ended;
    this.#inbox.close('closed');
  }

  async #spawn(): Promise<ProcessGroup> {
    const started = takePrestarted(this.#options);
    if (started) return started;
    try {
      const command = await this.#confined();
      this.#options.checkStart?.();
      const group = new ProcessGroup(command);
      await once(group.child, 'spawn');
      return group;
    } catch (cause) {
      const isOurs = cause instanceof GatewayError; // it cannot be confined, or has changed
      const reason = isOurs ? cause.message : whyNotStarted(cause as NodeJS.ErrnoException, this.#options);
      this.#inbox.abandon(reason);
      throw isOurs ? cause : new GatewayError('UPSTREAM_UNREACHABLE', { server: this.name, reason }, { cause });
    }
  }

  async #confined(): Promise<ServerCommand> {
    const { env, log } = this.#options;
    let confined: ServerCommand = this.#options;
    for (const one of CONFINEMENTS) {
      if (!one.isWanted(confined)) continue;
      const { kind, holds, isWhole, env: added, ...start } = await one.confine(confined);
      log?.[isWhole ? 'debug' : 'warn']({ link: this.name, kind, holds }, `upstream.${one.key}`);
      confined = { ...confined, ...start, env: { ...added, ...env } };
    }
    return confined;
  }

  #read({ child, exited }: ProcessGroup): void {
    const inbox = this.#inbox;
    const lines = new LineReader({
      maxBytes: inbox.maxBytes,
      onLine: (line) => inbox.take(line),
      onBytes: (line) => inbox.take(line),
      onOversize: (beginning, end) => inbox.oversize(beginning, end),
      onEndless: () => this.#giveUp('it sends a line without an end'),
    });
    const hold = (): HeldShare =>
      inbox.hold(this.name, () => {
        lines.skipLine();
        holding = undefined;
      });
    let holding: HeldShare | undefined;
    const onRead = (): void => {
      if (lines.heldBytes > UNCOUNTED_BYTES) holding ??= hold();
      holding?.set(lines.heldBytes);
    };
    const paced = new PacedReader({ reader: lines, inbox, source: child.stdout, onRead });
    child.stdout
      .on('data', (chunk: Buffer) => paced.push(chunk))
      .on('end', () => {
        paced.end();
        lines.end();
      })
      .on('close', () => holding?.release());
    // What is left in the pipe of a process that has ended is little.
    void exited.then(() => paced.end());
    const said = (text: string): void => void (text !== '' && this.#log({ text }, 'upstream.stderr'));
    child.stderr.on('data', (chunk: Buffer) => said(this.#tail.push(chunk))).on('close', () => said(this.#tail.end()));
    for (const pipe of [child.stdin, child.stdout, child.stderr]) {
      pipe.on('error', (error) => this.#log({ error }, 'upstream.pipe'));
    }
  }

  /** Runs from the start of the child to its end. */
  async #live(group: ProcessGroup): Promise<void> {
    const { child } = group;
    const { stopMs = 2000 } = this.#options;
    // A server that has closed its stdout can answer nothing any more.
    const drained = new Promise((resolve) => child.stdout.once('close', resolve));
    await unlessAborted(Promise.race([group.exited, drained]), this.#closeAsked.signal);
    if (this.#givenUp === undefined) {
      this.#out?.flush();
      child.stdin.end();
      await settledWithin(group.exited, stopMs);
    } else {
      // It would write on and on, or not notice that its input has ended.
      child.stdin.destroy();
      child.stdout.destroy();
    }
    await group.stop(stopMs);
    await settledWithin(drained, DRAIN_MS);
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
    this.#unread?.end();
    this.#inbox.close(this.#reason(child));
  }

  #reason({ exitCode, signalCode }: { exitCode: number | null; signalCode: string | null }): string {
    if (this.#givenUp !== undefined) return this.#givenUp;
    const how = signalCode === null ? `exit code ${exitCode}` : `killed by ${signalCode}`;
    const tail = this.lastWords();
    return tail === '' ? how : `${how}; stderr: ${tail}`;
  }

  #closedError(reason: string): GatewayError {
    return new GatewayError('UPSTREAM_CLOSED', {
      server: this.name,
      reason: this.#givenUp ?? this.#inbox.closedBy ?? reason,
    });
  }

  /** A pipe mostly breaks because the child has exited, and its exit status says more. */
  async #brokenError(reason: string): Promise<GatewayError> {
    if (this.#ended) await settledWithin(this.#ended, DRAIN_MS);
    return this.#closedError(reason);
  }

  #log(fields: object, event: string): void {
    this.#options.log?.debug({ link: this.name, ...fields }, event);
  }
}

function whyNotStarted(error: NodeJS.ErrnoException, { command, cwd }: StdioLinkOptions): string {
  // The system reports ENOENT for both, and names the command.
  if (cwd !== undefined && !existsSync(cwd)) return `working directory not found: ${cwd}`;
  if (error.code === 'ENOENT') return `command not found: ${command}; is it on PATH?`;
  if (error.code === 'EACCES') return `not allowed to run: ${command}; is it executable?`;
  return error.message;
}

const MAX_CHARS = 4096;
/** The line that says what is wrong may stand before pages of paths. */
const MAX_TAIL_CHARS = 16_384;
const MAX_LINES = 20;
/** As Node, Python and Java write what ended a program. */
const ERROR_LINE = /^\s*(?:Uncaught )?[\w.$]*(?:Error|Exception)(?: \[[\w-]+\])?: \S/;
const MIN_SECRET_CHARS = 8;
/** Of JavaScript and Python. */
const STACK_FRAME = /^\s+at .+|^\s+File ".+", line \d+/;
const CREDENTIALS = /(\b[a-z][\w+.-]*:\/\/)[^\s/@]*:[^\s/@]*@/gi;

/**
 * The end of the child's stderr, for the message that says why it exited. Only the tail is kept: a server may write gigabytes, which must neither fill
 * our memory nor block the server at a full pipe. Secrets that were given to the child are masked.
 */
export class StderrTail {
  readonly #decoder = new StringDecoder('utf8');
  readonly #given = new Secrets();
  #tail = '';
  /** The beginning of a line. */
  #rest = '';

  /** `env`: all its values count as secrets here, unless they are too common (`1`, `true`, `info`). */
  constructor(env: Record<string, string> = {}) {
    for (const value of Object.values(env))
      if (value.length >= MIN_SECRET_CHARS || isMixed(value)) this.#given.add(value);
  }

  /** Returns the whole lines for the log: a secret may come in two pieces. */
  push(chunk: Buffer): string {
    const text = this.#decoder.write(chunk);
    // A flat copy: a slice of a joined string would keep all its parts in memory.
    this.#tail = Buffer.from((this.#tail + text).slice(-MAX_TAIL_CHARS)).toString();
    const all = this.#rest + text;
    const end = all.length > MAX_CHARS ? all.length : all.lastIndexOf('\n') + 1;
    this.#rest = all.slice(end);
    return this.#masked(all.slice(0, end));
  }

  /** The last line, if it has no end. */
  end(): string {
    const rest = this.#rest;
    this.#rest = '';
    return this.#masked(rest);
  }

  /** Sent to peers, so without stack traces and credentials in URLs. What names an error comes first: people read one line. */
  text(): string {
    const lines = this.#tail
      .trimEnd()
      .split('\n')
      .filter((line) => !STACK_FRAME.test(line));
    const last = lines.slice(-MAX_LINES);
    const error = lines.findLast((line) => ERROR_LINE.test(line));
    const others = last.filter((line) => line !== error).join('\n');
    const text = error === undefined ? others : `${error.trim()}\n${others.slice(-(MAX_CHARS - MAX_LINES))}`;
    return this.#masked(text.slice(0, MAX_CHARS).trim().replace(CREDENTIALS, `$1${MASKED}@`));
  }

  #masked(text: string): string {
    return this.#given.mask(secrets.mask(text));
  }
}
