// Attacks on the audit log: each one is found by `verifyAudit`, or does nothing.
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../../flow/testing/manual-clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { lazyCrypto } from '../../../kernel/crypto/lazy-crypto.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { listAuditFiles, readSigningKey, toPublicText } from './audit-folder.ts';
import { checkpointText, readLine, AuditTail } from './audit-lines.ts';
import { ChainReader, hashLine } from './chained-lines.ts';
import type { AuditLine } from './audit-lines.ts';
import { AuditWriter } from './audit-writer.ts';
import { toOcsf } from './to-ocsf.ts';
import { verifyAudit } from './verify-audit.ts';

const silent = createLog({ level: 'silent' });
const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-audit-'));
  made.push(folder);
  return join(folder, 'audit');
}

interface RecordOptions {
  close?: boolean;
  limits?: object;
  clock?: Clock;
}

function record(folder: string, names: string[], options: RecordOptions = {}): AuditWriter {
  const writer = new AuditWriter({ folder, log: silent, limits: options.limits, clock: options.clock });
  for (const name of names) writer.record({ kind: 'call', method: 'tools/call', name, outcome: 'ok', ms: 1 });
  if (options.close !== false) writer.close();
  return writer;
}

const NAMES = Array.from({ length: 20 }, (_, index) => `tool${index}`);

function pathIn(folder: string, index = 0): string {
  return listAuditFiles(folder)[index]!.path;
}

function edit(path: string, change: (lines: string[]) => string[]): void {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  writeFileSync(
    path,
    change(lines)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

/** Makes the chain fit again after an edit, as an attacker without the key can: with a hash in each line, as logs had it before, or only where there was one. */
function rechain(lines: string[], isInEach = true): string[] {
  const reader = new ChainReader();
  return lines.map((text, seq) => {
    const { prev: before, ...line } = readLine(text)!;
    const hasHash = isInEach || before !== undefined;
    const chained = JSON.stringify({ ...line, seq, ...(hasHash && { prev: reader.prev ?? '' }) });
    reader.take(chained, hasHash);
    return chained;
  });
}

function unlinked(line: string): string {
  const { prev: _, ...rest } = readLine(line)!;
  return JSON.stringify(rest);
}

function namesIn(folder: string): (string | undefined)[] {
  return new AuditTail(folder).read(({ kind }) => kind === 'call').map(({ line }) => line.name);
}

describe('an audit log that nobody has touched', () => {
  it('is good, is its user’s alone, and has what was recorded', () => {
    const folder = newFolder();
    record(folder, NAMES);
    record(folder, NAMES);
    expect(verifyAudit(folder)).toMatchObject({ chains: 2, lines: 44, problems: [], notes: [] });
    expect(namesIn(folder)).toEqual([...NAMES, ...NAMES]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('signs every so many lines, continues in a new file when one is full, and drops the oldest', () => {
    const folder = newFolder();
    const limits = { maxAuditFileBytes: 40_000, maxAuditBytes: 120_000 };
    record(folder, Array(4000).fill('tool') as string[], { limits });
    const files = listAuditFiles(folder);
    expect(files.length).toBeGreaterThan(1);
    expect(files.reduce((sum, { path }) => sum + statSync(path).size, 0)).toBeLessThan(250_000);
    expect(files[0]!.part).toBeGreaterThan(0);
    expect(verifyAudit(folder)).toMatchObject({ chains: 1, problems: [], notes: [] });
    expect(new AuditTail(folder).read(({ kind }) => kind === 'checkpoint').length).toBeGreaterThan(0);
  });

  it('is still good while it is written, and after a head was noted', () => {
    const folder = newFolder();
    record(folder, NAMES);
    const { head } = verifyAudit(folder);
    const writer = record(folder, [], { close: false });
    writer.record({ kind: 'approval', name: 'x', outcome: 'given' }); // is written at once
    expect(namesIn(folder)).toEqual(NAMES);
    const report = verifyAudit(folder, { head: head!, key: toPublicText(readSigningKey(folder)!) });
    expect(report).toMatchObject({ problems: [], notes: [expect.stringContaining('its process runs')] });
    writer.close();
  });
});

describe('a process that goes on', () => {
  it('writes each event within half a second, and signs within a minute', () => {
    const folder = newFolder();
    const clock = manualClock();
    const writer = new AuditWriter({ folder, log: silent, clock });
    const signed = () => new AuditTail(folder).read(({ kind }) => kind === 'checkpoint').length;
    for (const count of [1, 2, 3]) {
      writer.record({ kind: 'call', name: `tool${count}`, outcome: 'ok' });
      clock.move(500);
      expect(namesIn(folder)).toHaveLength(count);
      clock.move(1000);
    }
    expect(signed()).toBe(0);
    clock.move(60_000);
    expect(signed()).toBe(1);
    clock.move(60_000);
    expect(signed()).toBe(1); // nothing is new
    writer.close();
    expect(verifyAudit(folder)).toMatchObject({ problems: [], notes: [] });
  });

  it('signs within a minute what comes again and again', () => {
    const folder = newFolder();
    const clock = manualClock();
    const writer = new AuditWriter({ folder, log: silent, clock });
    for (let i = 0; i < 61; i++) {
      writer.record({ kind: 'call', name: 'tool', outcome: 'ok' });
      clock.move(1000);
    }
    expect(new AuditTail(folder).read(({ kind }) => kind === 'checkpoint')).toHaveLength(1);
    writer.close();
  });
});

describe('tampering', () => {
  const attacks: Record<string, (lines: string[]) => string[]> = {
    'a changed line': (lines) => lines.map((line) => line.replace('tool7"', 'tool8"')),
    'a changed line, chained again': (lines) => rechain(lines.map((line) => line.replace('tool7"', 'tool8"'))),
    'a removed line': (lines) => lines.toSpliced(5, 1),
    'a removed line, chained again': (lines) => rechain(lines.toSpliced(5, 1)),
    'an added line, chained again': (lines) => rechain(lines.toSpliced(5, 0, lines[6]!)),
    'two lines in another order': (lines) => lines.toSpliced(5, 2, lines[6]!, lines[5]!),
    'another tail, chained again': (lines) =>
      rechain([...lines.slice(0, 10), lines[10]!.replace('tool9"', 'evil"'), ...lines.slice(11)]),
    'a changed line, chained again where hashes were': (lines) =>
      rechain(
        lines.map((line) => line.replace('tool7"', 'tool8"')),
        false,
      ),
    'a changed line, without any hash behind it': (lines) =>
      lines.map((line) => unlinked(line.replace('tool7"', 'tool8"'))),
    'a start without a hash': (lines) => [unlinked(lines[0]!), ...lines.slice(1)],
    'an end without a hash': (lines) => [...lines.slice(0, -1), unlinked(lines.at(-1)!)],
    'a removed start': (lines) => lines.slice(1),
    'a line after the end': (lines) => rechain([...lines, lines[3]!]),
    'half a line in the middle': (lines) => lines.map((line, index) => (index === 4 ? line.slice(0, 20) : line)),
    'a forged end': (lines) => rechain([...lines.slice(0, 5), lines.at(-1)!]),
    'an end without a signature': (lines) => [
      ...lines.slice(0, -1),
      lines.at(-1)!.replace(/"sig":"[^"]*"/, '"sig":""'),
    ],
  };

  it.each(Object.entries(attacks))('is found: %s', (_, attack) => {
    const folder = newFolder();
    record(folder, NAMES);
    edit(pathIn(folder), attack);
    expect(verifyAudit(folder).problems).not.toEqual([]);
  });

  it('is found in each line that was written: changed, removed, moved, doubled, and in a log of a process that was killed', () => {
    const folder = newFolder();
    const writer = record(folder, NAMES, { close: false });
    writer.record({ kind: 'approval', name: 'y' }); // is written at once
    const path = pathIn(folder);
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    expect(lines.filter((line) => readLine(line)!.prev === undefined)).toHaveLength(NAMES.length);
    for (let at = 1; at < lines.length - 1; at++)
      for (const changed of [
        lines.with(at, lines[at]!.replace('"ok"', '"ko"')),
        lines.toSpliced(at, 1),
        lines.toSpliced(at, 2, lines[at + 1]!, lines[at]!),
        lines.toSpliced(at, 0, lines[at]!),
      ]) {
        edit(path, () => changed);
        expect(verifyAudit(folder).problems, `line ${at}`).not.toEqual([]);
      }
    edit(path, () => lines);
    expect(verifyAudit(folder).problems).toEqual([]);
    writer.close();
  });

  it('is found in a log of an earlier version, which has a hash in each line, and such a log is good', () => {
    const folder = newFolder();
    record(folder, NAMES);
    const { chain } = listAuditFiles(folder)[0]!;
    const key = readSigningKey(folder)!;
    const older = (lines: string[]): string[] => {
      const body = rechain(lines.slice(0, -1));
      const end = { ...readLine(lines.at(-1)!)!, prev: hashLine(body.at(-1)!) } as AuditLine;
      const sig = lazyCrypto()
        .sign(null, Buffer.from(checkpointText(chain, end)), key)
        .toString('base64url');
      return [...body, JSON.stringify({ ...end, sig })];
    };
    edit(pathIn(folder), older);
    expect(verifyAudit(folder)).toMatchObject({ lines: NAMES.length + 2, problems: [], notes: [] });
    edit(pathIn(folder), (lines) => lines.map((line) => line.replace('tool7"', 'tool8"')));
    expect(verifyAudit(folder).problems).not.toEqual([]);
  });

  it('is found: a checkpoint that is made an end, to cut off what follows', () => {
    const folder = newFolder();
    const writer = record(folder, Array(3000).fill('tool') as string[], { close: false });
    writer.close();
    edit(pathIn(folder), (lines) => {
      const at = lines.findIndex((line) => readLine(line)!.kind === 'checkpoint');
      expect(at).toBeGreaterThan(0);
      return [...lines.slice(0, at), lines[at]!.replace('"kind":"checkpoint"', '"kind":"end"')];
    });
    expect(verifyAudit(folder).problems).toEqual([expect.stringContaining('signature')]);
  });

  it('is found: lines that another key has signed', () => {
    const folder = newFolder();
    record(folder, NAMES);
    const { chain } = listAuditFiles(folder)[0]!;
    const { privateKey } = lazyCrypto().generateKeyPairSync('ed25519');
    edit(pathIn(folder), (lines) => {
      const body = rechain(lines.slice(0, -1).map((line) => line.replace('tool7"', 'tool8"')));
      const end = { ...readLine(lines.at(-1)!)!, prev: hashLine(body.at(-1)!) } as AuditLine;
      const sig = lazyCrypto()
        .sign(null, Buffer.from(checkpointText(chain, end)), privateKey)
        .toString('base64url');
      return [...body, JSON.stringify({ ...end, sig })];
    });
    expect(verifyAudit(folder).problems).toEqual([expect.stringContaining('not of this key')]);
  });

  it('is found with a head or the public key from elsewhere: everything is new, the key too', () => {
    const folder = newFolder();
    record(folder, NAMES);
    const { head } = verifyAudit(folder);
    const key = toPublicText(readSigningKey(folder)!);
    rmSync(folder, { recursive: true });
    record(folder, NAMES.slice(0, 5));
    expect(verifyAudit(folder).problems).toEqual([]);
    expect(verifyAudit(folder, { head: head! }).problems).toEqual([expect.stringContaining('the head is in no file')]);
    expect(verifyAudit(folder, { key }).problems).toEqual([expect.stringContaining('not of this key')]);
  });

  it('is found: a whole chain is gone, cut off, or under another name', () => {
    for (const attack of [
      (path: string) => rmSync(path),
      (path: string) => truncateSync(path, 900),
      (path: string) => edit(path, (lines) => lines.slice(0, 8)),
      (path: string) => renameSync(path, path.replace(/\.0\.jsonl$/, '.1.jsonl')),
    ]) {
      const folder = newFolder();
      record(folder, NAMES);
      record(folder, NAMES);
      const [first] = listAuditFiles(folder)
        .map(({ path }) => ({ path, text: readFileSync(path, 'utf8') }))
        .filter(({ text }) => !text.includes('"after"'));
      attack(first!.path);
      expect(verifyAudit(folder).problems, attack.toString()).not.toEqual([]);
    }
  });

  it('is found with a planted file that excuses a missing chain, also with a head and a key from elsewhere', () => {
    for (const pid of [999_999, process.pid]) {
      const folder = newFolder();
      record(folder, NAMES);
      record(folder, NAMES);
      const key = toPublicText(readSigningKey(folder)!);
      const { head } = verifyAudit(folder);
      const files = listAuditFiles(folder);
      const named = files.filter(({ path }) => !readFileSync(path, 'utf8').includes('"after"'));
      const gone = named[0]!;
      rmSync(gone.path);
      const details = { chain: 'planted-file', part: 0, pid, dropped: [gone.name] };
      const time = new Date().toISOString();
      const start = JSON.stringify({ seq: 0, prev: '', time, kind: 'start', details });
      const name = files[0]!.name.replace(/\.\d+\.[^.]+\.0\.jsonl$/, `.${pid}.planted-file.0.jsonl`);
      writeFileSync(join(folder, name), `${start}\n`);
      expect(listAuditFiles(folder).map(({ chain }) => chain)).toContain('planted-file');
      for (const options of [{}, { head: head!, key }]) {
        const { problems } = verifyAudit(folder, options);
        expect(problems).toContainEqual(expect.stringContaining(`the chain ${gone.chain} is missing`));
        expect(problems).toContainEqual(expect.stringContaining('the chain planted-file has no signature'));
      }
    }
  });

  it('is found: a start that says something else than what was signed', () => {
    const folder = newFolder();
    const writer = record(folder, ['x'], { close: false });
    writer.record({ kind: 'approval', name: 'y' }); // is written at once
    edit(pathIn(folder), (lines) =>
      rechain([lines[0]!.replace('"part":0', '"part":0,"dropped":["a.b.c.0.jsonl"]'), ...lines.slice(1)]),
    );
    expect(verifyAudit(folder).problems).toContainEqual(expect.stringContaining('has no signature'));
    writer.close();
  });

  it('is found: files that were removed besides those that made room', () => {
    const folder = newFolder();
    const writer = record(folder, [], { close: false, limits: { maxAuditFileBytes: 2000, maxAuditBytes: 12_000 } });
    for (let n = 0; n < 200 && listAuditFiles(folder)[0]?.part !== 1; n++) {
      writer.record({ kind: 'approval', name: 'y' });
    }
    writer.close();
    const files = listAuditFiles(folder);
    expect(files[0]!.part).toBe(1);
    expect(verifyAudit(folder).problems).toEqual([]);
    rmSync(files[0]!.path);
    expect(verifyAudit(folder).problems).toContainEqual(expect.stringContaining('file 1 of the chain'));
  });

  it('believes a killed process about files that it removed to make room, from its first line on', () => {
    const folder = newFolder();
    const limits = { maxAuditFileBytes: 4000, maxAuditBytes: 12_000 };
    const clock = manualClock(); // files are in the order of their times
    for (let n = 0; n < 5; n++) {
      record(folder, NAMES, { limits, clock });
      clock.move(1000);
      for (const { path } of listAuditFiles(folder)) renameSync(path, path.replace(`.${process.pid}.`, '.999999.'));
    }
    const writer = record(folder, [], { close: false, limits, clock });
    writer.record({ kind: 'approval', name: 'y' });
    const { path } = listAuditFiles(folder).at(-1)!;
    expect(readFileSync(path, 'utf8')).toContain('"dropped"');
    renameSync(path, path.replace(`.${process.pid}.`, '.999999.'));
    expect(verifyAudit(folder).problems).toEqual([]);
  });

  it('says that a chain has no end: its process was killed, or somebody has cut it off', () => {
    const folder = newFolder();
    record(folder, NAMES);
    const path = pathIn(folder);
    const dead = path.replace(`.${process.pid}.`, '.999999.');
    renameSync(path, dead);
    edit(dead, (lines) => lines.slice(0, 8));
    appendFileSync(dead, '{"seq":8,"prev":"half a li');
    expect(verifyAudit(folder)).toMatchObject({
      problems: [],
      notes: [expect.stringContaining('not complete'), expect.stringContaining('killed, or the end was cut off')],
    });
  });
});

describe('whatever is recorded', () => {
  it('stays on its line and harmless on a terminal, however long, and is read back', () => {
    const folder = newFolder();
    const evil = [
      'a\n{"seq":1}',
      '\u001B]52;c;aGk=\u0007',
      '\u009B2J',
      '\u202Egnp.exe',
      '\u2028',
      'x'.repeat(5_000_000),
      '\uD800',
      '',
    ];
    record(folder, evil);
    const text = readFileSync(pathIn(folder), 'utf8');
    expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028-\u202E]/); // eslint-disable-line no-control-regex
    expect(text.length).toBeLessThan(10_000);
    expect(verifyAudit(folder).problems).toEqual([]);
    expect(namesIn(folder).slice(0, 5)).toEqual(evil.slice(0, 5));
  });

  it('a flood of refused callers is counted, and pushes nothing out', () => {
    const folder = newFolder();
    let now = 1_000_000;
    const clock = { now: () => now, after: () => () => {} };
    const writer = new AuditWriter({ folder, log: silent, clock });
    for (let i = 0; i < 50_000; i++) writer.record({ kind: 'refusal', outcome: 'UNAUTHORIZED', name: `/${i}` });
    now += 2000;
    writer.record({ kind: 'call', name: 'after' });
    writer.close();
    const lines = new AuditTail(folder).read(({ kind }) => kind === 'refusal').map(({ line }) => line);
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)!.details).toEqual({ more: 49_990 });
  });

  it('is exported as OCSF', () => {
    const folder = newFolder();
    const writer = record(folder, ['read'], { close: false });
    writer.record({ kind: 'refusal', name: '/mcp', outcome: 'UNAUTHORIZED', details: { from: '10.0.0.9' } });
    writer.close();
    const events = new AuditTail(folder).read(() => true).flatMap(({ line, file }) => toOcsf(line, file.chain) ?? []);
    expect(events).toMatchObject([
      {
        class_uid: 6003,
        type_uid: 600399,
        status_id: 1,
        api: { operation: 'tools/call' },
        resources: [{ name: 'read' }],
      },
      { class_uid: 3002, type_uid: 300201, status_id: 2, src_endpoint: { ip: '10.0.0.9' } },
    ]);
  });
});

describe('a log that cannot be written', () => {
  function failing(folder: string) {
    const errors: string[] = [];
    const log = createLog({ level: 'error', write: (line) => errors.push(line) });
    return { errors, writer: new AuditWriter({ folder, log }) };
  }

  it('is logged once; nothing is thrown, and what is missing is recorded when it works again', () => {
    const folder = newFolder();
    writeFileSync(join(folder, '..', 'audit'), 'a file where the folder should be');
    const { errors, writer } = failing(folder);
    for (let i = 0; i < 5; i++) writer.record({ kind: 'approval', name: `lost${i}` });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain('audit.failed');
    rmSync(folder);
    writer.record({ kind: 'approval', name: 'kept' });
    writer.close();
    const lines = new AuditTail(folder).read(() => true).map(({ line }) => line);
    expect(lines.find(({ kind }) => kind === 'lost')!.details).toEqual({ lines: 5 });
    expect(verifyAudit(folder).problems).toEqual([]);
  });

  it('does not continue under a link that somebody has put in its place, nor with a linked key', () => {
    const folder = newFolder();
    const elsewhere = newFolder();
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, folder);
    const { errors, writer } = failing(folder);
    writer.record({ kind: 'approval', name: 'x' });
    writer.close();
    expect(errors[0]).toContain('is a link');
    expect(readdirSync(elsewhere)).toEqual([]);
    rmSync(folder);
    mkdirSync(folder);
    symlinkSync('/etc/passwd', join(folder, 'key.pem'));
    const second = failing(folder);
    second.writer.record({ kind: 'approval', name: 'x' });
    second.writer.close();
    expect(second.errors).toHaveLength(1);
  });

  it.runIf(process.getuid?.() === 0)('is not written into a folder of another user', () => {
    const folder = newFolder();
    mkdirSync(folder);
    process.getBuiltinModule('node:fs').chownSync(folder, 12_345, 12_345);
    chmodSync(folder, 0o777);
    const { errors, writer } = failing(folder);
    writer.record({ kind: 'approval', name: 'x' });
    writer.close();
    expect(errors[0]).toContain('belongs to another user');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('continues in a new file when somebody removes the old one, and that shows', () => {
    const folder = newFolder();
    const writer = record(folder, NAMES, { close: false });
    writer.record({ kind: 'approval', name: 'before' });
    rmSync(pathIn(folder));
    writer.record({ kind: 'approval', name: 'after' });
    writer.close();
    expect(new AuditTail(folder).read(({ kind }) => kind === 'approval').map(({ line }) => line.name)).toEqual([
      'after',
    ]);
    expect(verifyAudit(folder).problems).toEqual([expect.stringContaining('is missing')]);
  });
});
