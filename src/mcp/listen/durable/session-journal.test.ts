import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../kernel/base/clock.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { FakeClock } from '../../eras/fake-context.contract.ts';
import { SessionJournal } from './session-journal.ts';

let folder: string;
const open: SessionJournal[] = [];
const lines: string[] = [];
const log = createLog({ level: 'warn', write: (line) => lines.push(line) });
beforeEach(() => {
  lines.length = 0;
  folder = join(mkdtempSync(join(tmpdir(), 'parley-journal-')), 'state');
});
afterEach(() => {
  for (const journal of open.splice(0)) journal.close();
  rmSync(join(folder, '..'), { recursive: true });
});

/** All journals are of this process, so each treats the earlier ones as ended. */
function journal(idleMs = 60_000): SessionJournal {
  const made = new SessionJournal({ folder, idleMs, clock: systemClock, log });
  open.push(made);
  return made;
}
const createSession = () => ({
  binding: 'me',
  opening: { clientInfo: { name: 'c' } },
  subscriptions: new Set<string>(),
});
const files = () => readdirSync(folder).map((name) => join(folder, name));

describe('the session journal', () => {
  it('is removed by a later process when all its sessions have ended', () => {
    const first = journal();
    for (const key of ['a', 'b']) first.begin(key, createSession());
    const second = journal();
    for (const key of ['a', 'b']) second.takeOver(key, 'me');
    for (const key of ['a', 'b']) second.end(key);
    second.close();
    expect(files()).toHaveLength(2); // the first file still names both
    expect(journal().takeOver('a', 'me')).toBeUndefined();
    expect(files()).toEqual([]);
  });

  it('tells a later process which sessions are alive, and what was set', () => {
    const first = journal();
    for (const key of ['a', 'b', 'c']) first.begin(key, createSession());
    first.change('a', { level: 'debug' });
    for (const uri of ['u:1', 'u:2', 'u:3']) first.change('a', { subscribe: uri });
    first.change('a', { unsubscribe: 'u:2' });
    first.end('b');
    const second = journal();
    expect(second.takeOver('a', 'me')).toEqual({
      ...createSession(),
      level: 'debug',
      subscriptions: new Set(['u:1', 'u:3']),
    });
    expect([second.takeOver('b', 'me'), second.takeOver('c', 'me'), second.takeOver('d', 'me')]).toEqual([
      undefined,
      createSession(),
      undefined,
    ]);
    expect(files().map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('keeps a session alive over several processes until one ends it', () => {
    const first = journal();
    for (const key of ['a', 'b']) first.begin(key, createSession());
    first.change('a', { level: 'error' });
    const second = journal();
    for (const key of ['a', 'b']) second.takeOver(key, 'me');
    expect(second.takeOver('a', 'me')).toBeUndefined();
    second.end('b');
    const third = journal();
    expect([third.takeOver('a', 'me')?.level, third.takeOver('b', 'me')]).toEqual(['error', undefined]);
  });

  it('drops the sessions of a process that ended longer ago than they may be idle', () => {
    journal().begin('a', createSession());
    const past = Date.now() / 1000 - 120;
    for (const path of files()) utimesSync(path, past, past);
    expect(journal(60_000).takeOver('a', 'me')).toBeUndefined();
    expect(files()).toEqual([]);
  });

  it('removes useless files even if no session is restored', async () => {
    journal().begin('a', createSession());
    const past = Date.now() / 1000 - 120;
    for (const path of files()) utimesSync(path, past, past);
    journal(60_000);
    await vi.waitFor(() => expect(files()).toEqual([]), { timeout: 30_000 });
  });

  it('leaves the sessions of a live process alone', () => {
    journal().begin('a', createSession());
    const [path] = files();
    const other = join(folder, `sessions-${process.ppid}-other.jsonl`);
    writeFileSync(other, readFileSync(path!));
    rmSync(path!);
    expect(journal().takeOver('a', 'me')).toBeUndefined();
    expect(files()).toEqual([other]);
  });

  it('leaves alone what a live process has restored or ended', () => {
    for (const key of ['a', 'b', 'c']) journal().begin(key, createSession());
    const running = join(folder, `sessions-${process.ppid}-other.jsonl`);
    writeFileSync(running, '["+","a"]\n["+","b"]\n["-","b"]\n');
    const later = journal();
    expect(['a', 'b', 'c'].map((key) => later.takeOver(key, 'me') !== undefined)).toEqual([false, false, true]);
  });

  it('reads the file of a killed process, with its incomplete line', () => {
    journal().begin('a', createSession());
    appendFileSync(
      files()[0]!,
      '["+","b","me","{}"]\n["+","c","me"]\n["+","d","me","{"]\n{"not":"ours"}\n[1]\n["-","a',
    );
    const later = journal();
    expect(['a', 'b', 'c', 'd'].filter((key) => later.takeOver(key, 'me'))).toEqual(['a', 'b']);
  });

  it('stays small over many sessions, and stores few subscriptions', () => {
    const first = journal();
    first.begin('kept', createSession());
    for (let n = 0; n < 5000; n++) {
      first.begin(`s${n}`, createSession());
      first.end(`s${n}`);
      first.change('kept', { subscribe: `u:${n}` });
    }
    expect(statSync(files()[0]!).size).toBeLessThan(60_000);
    const later = journal();
    expect([later.takeOver('kept', 'me')?.subscriptions.size, later.takeOver('s4999', 'me')]).toEqual([100, undefined]);
  });

  it('writes nothing if a setting does not change', () => {
    const first = journal();
    first.begin('a', createSession());
    const repeated = [{ level: 'debug' as const }, { subscribe: 'u:1' }, { unsubscribe: 'u:2' }];
    for (const change of repeated) first.change('a', change);
    const { size } = statSync(files()[0]!);
    for (const change of repeated) first.change('a', change);
    expect(statSync(files()[0]!).size).toBe(size);
  });

  it('stays small however often one session changes its settings', () => {
    const first = journal();
    first.begin('a', createSession());
    for (let n = 0; n < 5000; n++) {
      first.change('a', { level: n % 2 ? 'debug' : 'error' });
      first.change('a', { subscribe: `u:${n}` });
      first.change('a', { unsubscribe: `u:${n}` });
    }
    first.change('a', { subscribe: 'u:last' });
    expect(statSync(files()[0]!).size).toBeLessThan(60_000);
    expect(journal().takeOver('a', 'me')).toEqual({
      ...createSession(),
      level: 'debug',
      subscriptions: new Set(['u:last']),
    });
  });

  it.each([
    ['is too large', (path: string) => truncateSync(path, 65 * 1024 * 1024)],
    [
      'cannot be read',
      (path: string) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ])('restores no deleted session if the file that reports it %s', (_, spoil) => {
    const seconds = Date.now() / 1000;
    journal().begin('deleted', createSession());
    const [oldest] = files();
    utimesSync(oldest!, seconds - 20, seconds - 20);
    const second = journal();
    second.takeOver('deleted', 'me');
    second.end('deleted');
    const spoilt = files().find((path) => path !== oldest)!;
    spoil(spoilt);
    utimesSync(spoilt, seconds - 10, seconds - 10);
    journal().begin('newer', createSession());
    const later = journal();
    expect([later.takeOver('deleted', 'me'), later.takeOver('newer', 'me')].map(Boolean)).toEqual([false, true]);
    expect(lines.join('')).toContain('sessions.not-kept');
  });

  it('files that cannot be removed neither end the process nor the journal', () => {
    const clock = new FakeClock(Date.now());
    mkdirSync(folder);
    const stuck = join(folder, 'sessions-99999999-aaaaaaaa.jsonl');
    mkdirSync(stuck); // a folder: its removal as a file fails, for root, too
    utimesSync(stuck, 1, 1);
    const made = new SessionJournal({ folder, idleMs: 60_000, clock, log });
    clock.advance(10_000); // the timer that tidies up
    expect(lines.join('')).toContain('sessions.not-removed');
    made.begin('a', createSession());
    const own = files().find((path) => path !== stuck)!;
    made.end('a');
    rmSync(own);
    mkdirSync(own);
    made.close();
    expect(lines.join('')).toContain(own);
    expect(files().toSorted()).toEqual([stuck, own].toSorted());
  });

  it('remembers ended sessions of earlier processes after a rewrite', () => {
    journal().begin('old', createSession());
    const second = journal();
    second.takeOver('old', 'me');
    second.end('old');
    for (let n = 0; n < 2000; n++) {
      second.begin(`s${n}`, createSession());
      second.end(`s${n}`);
    }
    expect(journal().takeOver('old', 'me')).toBeUndefined();
  });

  it('restores no session after it has expired', () => {
    journal().begin('a', createSession());
    const clock = new FakeClock(Date.now());
    const later = new SessionJournal({ folder, idleMs: 60_000, clock, log });
    open.push(later);
    clock.advance(60_000);
    expect(later.takeOver('a', 'me')).toBeUndefined();
  });

  it('takes over nothing for another caller', () => {
    journal().begin('a', createSession());
    const later = journal();
    expect(later.takeOver('a', 'you')).toBeUndefined();
    expect(later.takeOver('a', 'me')).toEqual(createSession());
  });

  it('a session that was released can be taken over again', () => {
    journal().begin('a', createSession());
    const later = journal();
    later.takeOver('a', 'me');
    later.release(['a']);
    expect(later.takeOver('a', 'me')).toEqual(createSession());
  });

  it('leaves no file behind when all sessions have ended', () => {
    const first = journal();
    first.begin('a', createSession());
    first.end('a');
    first.close();
    expect(files()).toEqual([]);
    first.begin('b', createSession());
    expect(files()).toEqual([]);
  });

  it('does no harm if the folder is not writable, and logs it once', () => {
    writeFileSync(folder, 'a file');
    const first = journal();
    for (const key of ['a', 'b']) first.begin(key, createSession());
    first.end('a');
    expect(lines).toHaveLength(1);
  });
});
