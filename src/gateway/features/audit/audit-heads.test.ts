import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../kernel/base/log.ts';
import { listAuditFiles } from './audit-folder.ts';
import { createAuditLog } from './audit-log.ts';
import { HeadSender, readHeads } from './audit-heads.ts';
import type { AuditHead } from './audit-heads.ts';
import { verifyAudit } from './verify-audit.ts';

const silent = createLog({ level: 'silent' });
const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-heads-'));
  made.push(folder);
  return folder;
}

function headOf(seq: number): AuditHead {
  return { time: '2026-11-18T00:00:00.000Z', chain: 'chain', seq, hash: `hash ${seq}`, key: 'key' };
}

async function record(folder: string, heads: string, names: string[], limits = {}): Promise<void> {
  const log = createAuditLog({ folder, heads, log: silent, limits });
  for (const name of names) log.record({ kind: 'call', method: 'tools/call', name, outcome: 'ok', ms: 1 });
  await log.close();
}

/** Removes the lines of the log but not its key, as a program can that may write the files of its user. */
function erase(folder: string): void {
  for (const { path } of listAuditFiles(folder)) rmSync(path);
}

describe('the heads of an audit log in a file', () => {
  it('are those of its signed lines, and belong to their user alone', async () => {
    const folder = newFolder();
    const heads = join(folder, 'heads.jsonl');
    await record(join(folder, 'audit'), heads, ['a']);
    await record(join(folder, 'audit'), heads, ['b']);
    const report = verifyAudit(join(folder, 'audit'), { heads: readHeads(heads) });
    expect(report).toMatchObject({ chains: 2, problems: [], notes: [] });
    expect(readHeads(heads).map(({ hash }) => hash)).toContain(report.head);
    if (process.platform !== 'win32') expect(statSync(heads).mode & 0o777).toBe(0o600);
  });

  it('find a log that was written again with the same key', async () => {
    const folder = newFolder();
    const heads = join(folder, 'heads.jsonl');
    await record(join(folder, 'audit'), heads, ['pay']);
    const [{ chain }] = readHeads(heads) as [AuditHead];
    erase(join(folder, 'audit'));
    await record(join(folder, 'audit'), join(folder, 'elsewhere'), ['harmless']);
    expect(verifyAudit(join(folder, 'audit')).problems).toEqual([]);
    expect(verifyAudit(join(folder, 'audit'), { heads: readHeads(heads) }).problems).toEqual([
      expect.stringContaining(`the chain ${chain} is missing, which a head of `),
    ]);
  });

  it('find a log that was written again with another key', async () => {
    const folder = newFolder();
    const heads = join(folder, 'heads.jsonl');
    await record(join(folder, 'audit'), heads, ['pay']);
    rmSync(join(folder, 'audit'), { recursive: true });
    await record(join(folder, 'audit'), join(folder, 'elsewhere'), ['harmless']);
    expect(verifyAudit(join(folder, 'audit'), { heads: readHeads(heads) }).problems).toEqual([
      expect.stringContaining('no head is of the key of this log'),
    ]);
  });

  it('find a chain whose end was cut off, and one that was changed', async () => {
    const folder = newFolder();
    const heads = join(folder, 'heads.jsonl');
    await record(join(folder, 'audit'), heads, ['pay', 'report']);
    const { path } = listAuditFiles(join(folder, 'audit'))[0]!;
    const whole = readFileSync(path, 'utf8');
    writeFileSync(path, whole.slice(0, whole.lastIndexOf('\n', whole.length - 2) + 1));
    expect(verifyAudit(join(folder, 'audit')).problems).toEqual([]);
    expect(verifyAudit(join(folder, 'audit'), { heads: readHeads(heads) }).problems).toEqual([
      expect.stringContaining('was cut off before line 3'),
    ]);
    const [head] = readHeads(heads);
    writeFileSync(path, whole);
    const other = { ...head!, hash: 'of another line' };
    expect(verifyAudit(join(folder, 'audit'), { heads: [other] }).problems).toEqual([
      expect.stringContaining('was changed before line 3'),
    ]);
  });

  it('excuse files that were removed to make room, and say how many', async () => {
    const folder = newFolder();
    const heads = join(folder, 'heads.jsonl');
    const limits = { maxAuditFileBytes: 40_000, maxAuditBytes: 120_000 };
    await record(join(folder, 'audit'), heads, Array(4000).fill('tool') as string[], limits);
    const report = verifyAudit(join(folder, 'audit'), { heads: readHeads(heads) });
    expect(report.problems).toEqual([]);
    expect(report.notes).toEqual([
      expect.stringMatching(/^\d+ of \d+ heads are of files that were removed to make room$/),
    ]);
  });

  it('are found in the lines of a syslog daemon, beside those of other users and other programs', async () => {
    const folder = newFolder();
    const heads = join(folder, 'heads.jsonl');
    await record(join(folder, 'audit'), heads, ['a']);
    const own = readFileSync(heads, 'utf8').trimEnd();
    const syslog = join(folder, 'syslog');
    writeFileSync(
      syslog,
      `Nov 18 12:00:00 host cron[1]: {"job":1}\nNov 18 12:00:01 host parley 7 audit-head - ${own}\n`,
    );
    appendFileSync(syslog, `Nov 18 12:00:02 host parley 8 audit-head - ${JSON.stringify(headOf(1))}\n`);
    const report = verifyAudit(join(folder, 'audit'), { heads: readHeads(syslog) });
    expect(report.problems).toEqual([]);
    expect(report.notes).toEqual(['1 of 2 heads are of other keys, such as those of other users']);
  });

  it('are written before the process can exit', () => {
    const heads = join(newFolder(), 'heads.jsonl');
    const sender = new HeadSender(heads, silent);
    sender.send(headOf(1));
    sender.send(headOf(2));
    expect(readHeads(heads)).toEqual([headOf(1), headOf(2)]);
  });

  it('that could not be written go with the next one, and the failure is logged once', async () => {
    const folder = newFolder();
    const logged: string[] = [];
    const log = createLog({ level: 'error', write: (line: string) => void logged.push(line) });
    const sender = new HeadSender(join(folder, 'later', 'heads.jsonl'), log);
    sender.send(headOf(1));
    sender.send(headOf(2));
    mkdirSync(join(folder, 'later'));
    sender.send(headOf(3));
    await sender.close();
    expect(readHeads(join(folder, 'later', 'heads.jsonl')).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(logged.filter((line) => line.includes('audit.heads.failed'))).toHaveLength(1);
  });
});

it('heads are posted to a URL as JSON lines, again after a failure', async () => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(Buffer.concat(await request.toArray()).toString());
    response.writeHead(bodies.length === 1 ? 503 : 204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sender = new HeadSender(`http://127.0.0.1:${(server.address() as AddressInfo).port}/heads`, silent);
  sender.send(headOf(1));
  await expect.poll(() => bodies.length).toBe(1);
  sender.send(headOf(2));
  await sender.close();
  expect(bodies.at(-1)).toBe(`${JSON.stringify(headOf(1))}\n${JSON.stringify(headOf(2))}\n`);
  server.closeAllConnections();
  server.close();
});

it('heads are sent to a syslog daemon, a datagram for each', async () => {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const sender = new HeadSender(`syslog://127.0.0.1:${socket.address().port}`, silent);
  const received = once(socket, 'message') as Promise<[Buffer]>;
  sender.send(headOf(1));
  const [message] = await received;
  await sender.close();
  expect(message.toString()).toMatch(/^<109>1 \S+ \S+ parley \d+ audit-head - \{.*"hash 1"/);
  socket.close();
});
