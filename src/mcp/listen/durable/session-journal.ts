// Records in the state folder which sessions are alive, how they began and what their clients have set, for a later
// process.
// 1. Each process writes its own file and reads only the files of processes that have ended. A session that any file
//    reports as ended is over.
// 2. A file untouched for longer than a session may be idle lists only expired sessions.
// 3. A file that cannot be read may have ended any session of the older files, so none of those is restored.
// 4. If the folder cannot be written or read, sessions are not durable; nothing else fails. A file that cannot be removed stays.
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { LoggingLevel } from '@modelcontextprotocol/client';
import { isObject } from '../../../kernel/message.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { isLiveProcess } from '../../../kernel/files/lease-holder.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { SettingChange } from '../../eras/serve/conversation.ts';
import { applySetting, isKept } from './session-store.ts';
import type { SessionRecord, HttpSessionStore } from './session-store.ts';

interface JournalOptions {
  folder: string;
  /** How long a session may be idle. */
  idleMs: number;
  /** What ids end in. */
  mark?: string | undefined;
  clock: Clock;
  log: Log;
}

type Line =
  | [kind: '+', key: string, binding: string, opening: string]
  | [kind: '-', key: string]
  | [kind: 'level' | 'subscribe' | 'unsubscribe', key: string, value: string];

/** How many files are read. A gateway that keeps crashing leaves many. */
const MAX_FILES = 100;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** The file is rewritten once it is larger than this plus twice what the last rewrite left. */
const MAX_SPENT_BYTES = 32 * 1024;
/** Above this size a rewritten file accepts no more subscriptions, so that it stays readable. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;
/**
 * Older files are read when a session needs them, or after this delay, so that the first answer does not wait for them.
 */
const TIDY_MS = 1000;
const FILE = /^sessions-(\d+)-[\w-]+\.jsonl$/;

export class SessionJournal implements HttpSessionStore {
  readonly isSure = true;
  readonly #options: JournalOptions;
  readonly #path: string;
  readonly #live = new Map<string, SessionRecord>();
  /** Sessions of earlier processes that have not been restored. Undefined until the files are read. */
  #earlier: Map<string, SessionRecord> | undefined;
  /** Sessions that ended here; the file of an earlier process may still list them. */
  readonly #ended = new Set<string>();
  #file: number | undefined;
  #bytes = 0;
  /** The size after the last rewrite. */
  #keptBytes = 0;
  #hasFailed = false;
  #stopTouching: (() => void) | undefined;
  readonly #stopTidying: () => void;
  readonly #stopWaiting: () => void;

  constructor(options: JournalOptions) {
    const { clock, folder, idleMs } = options;
    this.#options = options;
    this.#path = join(folder, `sessions-${process.pid}-${randomId().slice(0, 8)}.jsonl`);
    this.#stopTidying = clock.after(TIDY_MS, () => this.#readEarlier());
    this.#stopWaiting = clock.after(idleMs, () => this.#forgetEarlier());
  }

  name(): string {
    return randomId() + (this.#options.mark ?? '');
  }

  isOurs(key: string): Promise<boolean> {
    return Promise.resolve(this.#live.has(key));
  }

  begin(key: string, session: SessionRecord): void {
    if (!isKept(session)) return this.#options.log.info({}, 'session.not-kept');
    this.#live.set(key, session);
    this.#write(linesOf(key, session));
  }

  /** Continues a session of an earlier process in this one. */
  takeOver(key: string, binding: string): SessionRecord | undefined {
    const earlier = this.#readEarlier();
    const session = earlier.get(key);
    if (session?.binding !== binding) return undefined;
    earlier.delete(key);
    this.#ended.add(key);
    this.begin(key, session);
    return session;
  }

  release(keys: Iterable<string>): void {
    for (const key of keys) {
      const session = this.#live.get(key);
      if (!session) continue;
      this.#live.delete(key);
      this.#readEarlier().set(key, session);
    }
  }

  change(key: string, change: SettingChange): void {
    const settings = this.#live.get(key);
    if ('subscribe' in change && this.#keptBytes > MAX_KEPT_BYTES) return;
    if (settings && applySetting(settings, change)) this.#write([toLine(key, change)]);
  }

  end(key: string): void {
    if (this.#live.delete(key)) this.#write([['-', key]]);
  }

  /** Those that nobody has taken over have expired. */
  #forgetEarlier(): void {
    this.#earlier = new Map();
    this.#ended.clear();
  }

  /** Leaves the file for the next process, unless it lists nothing. */
  close(): void {
    this.#stopTouching?.();
    this.#stopTidying();
    this.#stopWaiting();
    this.#hasFailed = true; // later writes must not reopen the file
    if (this.#file === undefined) return;
    const file = this.#file;
    this.#file = undefined;
    this.#safely(() => closeSync(file));
    if (this.#live.size === 0 && this.#ended.size === 0) removeFile(this.#path, this.#options.log);
  }

  #readEarlier(): Map<string, SessionRecord> {
    return (this.#earlier ??= readEarlier(this.#path, this.#options));
  }

  #write(lines: Line[]): void {
    if (this.#hasFailed) return;
    this.#safely(() => {
      this.#file ??= this.#open(this.#path);
      this.#bytes += writeSync(this.#file, toText(lines));
      if (this.#bytes > MAX_SPENT_BYTES + 2 * this.#keptBytes) this.#compact();
    });
  }

  #open(path: string): number {
    mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 });
    this.#stopTouching ??= this.#touchNowAndThen();
    return openSync(path, 'a', 0o600);
  }

  /** Writes a new file and renames it, so that a crash leaves one of the two. */
  #compact(): void {
    const ended = [...this.#ended].filter((key) => !this.#live.has(key)).map((key): Line => ['-', key]);
    const lines = [...ended, ...[...this.#live].flatMap(([key, settings]) => linesOf(key, settings))];
    const text = toText(lines);
    const fresh = `${this.#path}.tmp`;
    writeFileSync(fresh, text, { mode: 0o600 });
    renameSync(fresh, this.#path);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#file = this.#open(this.#path);
    this.#bytes = this.#keptBytes = Buffer.byteLength(text);
  }

  /** Touches the file to show that this process, and so its sessions, are alive. */
  #touchNowAndThen(): () => void {
    const { clock, idleMs } = this.#options;
    return clock.after(idleMs / 4, () => {
      const seconds = clock.now() / 1000;
      if (this.#live.size > 0) this.#safely(() => utimesSync(this.#path, seconds, seconds));
      this.#stopTouching = this.#touchNowAndThen();
    });
  }

  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#hasFailed = true;
      this.#options.log.warn({ error, path: this.#path }, 'sessions.not-kept');
    }
  }
}

function linesOf(key: string, { binding, opening, level, subscriptions }: SessionRecord): Line[] {
  const lines: Line[] = [['+', key, binding, JSON.stringify(opening)]];
  if (level !== undefined) lines.push(['level', key, level]);
  for (const uri of subscriptions) lines.push(['subscribe', key, uri]);
  return lines;
}

function toLine(key: string, change: SettingChange): Line {
  if ('level' in change) return ['level', key, change.level];
  return 'subscribe' in change ? ['subscribe', key, change.subscribe] : ['unsubscribe', key, change.unsubscribe];
}

function toText(lines: Line[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Reads the older files and removes those that are no longer needed. `own` is the file of this process. */
function readEarlier(own: string, { folder, idleMs, clock, log }: JournalOptions): Map<string, SessionRecord> {
  const live = new Map<string, SessionRecord>();
  const ended = new Set<string>();
  const all = filesIn(folder).filter(({ path }) => path !== own);
  const isOfAnother = ({ pid }: { pid: number }): boolean => pid !== process.pid && isLiveProcess(pid);
  // Sessions that another live process lists do not belong to this one, whatever older files say.
  for (const { path } of all.filter(isOfAnother)) for (const [, key] of readLines(path) ?? []) ended.add(key);
  const files = all.filter((file) => !isOfAnother(file));
  const stale = files.slice(MAX_FILES).map(({ path }) => path);
  let isReadable = true;
  for (const { path, touched, bytes } of files.slice(0, MAX_FILES).toReversed()) {
    if (touched + idleMs < clock.now()) {
      stale.push(path);
      continue;
    }
    const lines = bytes > MAX_FILE_BYTES ? undefined : readLines(path);
    if (!lines) {
      live.clear(); // it may have ended any of them
      isReadable = false;
      log.warn({ path, bytes }, 'sessions.not-kept');
    } else for (const line of lines) take(line, live, ended);
  }
  for (const key of ended) live.delete(key);
  // If no session is left, nothing in these files counts for anybody.
  const spent = live.size === 0 && isReadable ? files.map(({ path }) => path) : stale;
  for (const path of spent) removeFile(path, log);
  return live;
}

function removeFile(path: string, log: Log): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    log.warn({ error, path }, 'sessions.not-removed');
  }
}

/** Newest first. */
function filesIn(folder: string): { path: string; pid: number; touched: number; bytes: number }[] {
  try {
    const files = readdirSync(folder).flatMap((name) => {
      const pid = FILE.exec(name)?.[1];
      if (pid === undefined) return [];
      const path = join(folder, name);
      const { mtimeMs: touched, size: bytes } = statSync(path);
      return [{ path, pid: Number(pid), touched, bytes }];
    });
    return files.sort((a, b) => b.touched - a.touched);
  } catch {
    return []; // the folder does not exist yet, or another process has just removed a file
  }
}

/** Skips a line that a killed process left incomplete. Undefined for a file that cannot be read. */
function readLines(path: string): Line[] | undefined {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((text) => {
        const line = parsed(text);
        return Array.isArray(line) && line.every((part) => typeof part === 'string') ? [line as unknown as Line] : [];
      });
  } catch (error) {
    // Another process removed the file, so it listed nothing that still counts.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : undefined;
  }
}

function parsed(text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function take([kind, key, value, opening]: Line, live: Map<string, SessionRecord>, ended: Set<string>): void {
  const session = live.get(key);
  if (kind === '-') ended.add(key);
  else if (value === undefined) return;
  else if (kind === '+' && !session) begin(live, key, value, parsed(opening));
  else if (!session) return;
  else if (kind === 'level') applySetting(session, { level: value as LoggingLevel });
  else if (kind === 'subscribe') applySetting(session, { subscribe: value });
  else if (kind === 'unsubscribe') applySetting(session, { unsubscribe: value });
}

function begin(live: Map<string, SessionRecord>, key: string, binding: string, opening: unknown): void {
  if (isObject(opening)) live.set(key, { binding, opening, subscriptions: new Set() });
}
