// Which lines `parley logs` shows.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandTools } from '../../../kernel/command/command-tools.ts';
import { UsageError } from '../../../kernel/command/option.ts';
import { logsCommand } from './command.ts';
import { ownAuditFolder } from './own-audit.ts';
import { runLogs } from './run-logs.ts';

const CALLS = [
  { name: 'read', principal: 'key:alice', ms: 12, details: { client: 'cursor-vscode', key: 'laptop' } },
  { name: 'write', principal: 'https://login.example.com#bob', ms: 2400, details: { client: 'claude-code' } },
  { name: 'look', principal: 'local', ms: 700, details: { client: 'cursor' } },
];
const SESSION = { name: 'peek', principal: 'anonymous:session:#1eCz0dfY3Ove', ms: 3, details: { client: 'codex' } };

let folder: string;
const before = process.env['XDG_STATE_HOME'];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-logs-'));
  process.env['XDG_STATE_HOME'] = folder;
  mkdirSync(ownAuditFolder(), { recursive: true });
  write(CALLS);
});

function write(calls: readonly object[]): void {
  const lines = calls.map((call, seq) => ({
    seq,
    time: `2026-11-19T04:00:0${seq}.000Z`,
    kind: 'call',
    outcome: 'ok',
    ...call,
  }));
  writeFileSync(
    join(ownAuditFolder(), '2026-11-19T04-00-00-000Z.1.AAAAAAAAAAAA.0.jsonl'),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
}
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  if (before === undefined) delete process.env['XDG_STATE_HOME'];
  else process.env['XDG_STATE_HOME'] = before;
});

async function linesFor(values: Record<string, string | boolean>): Promise<string[]> {
  const printed: string[] = [];
  const print = { line: (text: string) => void printed.push(text), note: () => {} };
  const command = logsCommand.read({ values, words: [], server: undefined });
  await runLogs(command, { print, ended: () => new Promise(() => {}) } as unknown as CommandTools);
  return printed;
}

/** The names of the calls that are shown. */
async function shown(values: Record<string, string>): Promise<string[]> {
  return (await linesFor({ json: true, ...values })).map((line) => (JSON.parse(line) as { name: string }).name);
}

describe('the filters of `parley logs`', () => {
  it('a user is found by the principal, by the user of an API key and by the name of the key', async () => {
    expect(await shown({})).toEqual(['read', 'write', 'look']);
    expect(await shown({ user: 'alice' })).toEqual(['read']);
    expect(await shown({ user: 'laptop' })).toEqual(['read']);
    expect(await shown({ user: '*#bob' })).toEqual(['write']);
    expect(await shown({ user: 'nobody' })).toEqual([]);
  });

  it('a session without a login has a short id, by which it is found', async () => {
    write([...CALLS, SESSION]);
    const [, line, ...others] = await linesFor({ user: 'session #1eCz0d' });
    expect(others).toEqual([]);
    expect(line).toContain('  session #1eCz0d codex  ');
    expect(await shown({ user: '*#1eCz0dfY3Ove' })).toEqual(['peek']);
  });

  it('a client is found by a pattern, and slow calls by a span', async () => {
    expect(await shown({ client: 'cursor*' })).toEqual(['read', 'look']);
    expect(await shown({ slow: '500ms' })).toEqual(['write', 'look']);
    expect(await shown({ slow: '1s', client: 'claude-code' })).toEqual(['write']);
    await expect(shown({ slow: 'long' })).rejects.toThrow(UsageError);
  });

  it('a span of time has a begin and an end, which have to be in this order', async () => {
    const [since, until] = ['2026-11-19T04:00:01Z', '2026-11-19T04:00:02Z'];
    expect(await shown({ until })).toEqual(['read', 'write']);
    expect(await shown({ since, until })).toEqual(['write']);
    await expect(shown({ since: until, until: since })).rejects.toThrow('--until must be after --since');
    await expect(shown({ until, follow: true as never })).rejects.toThrow('--follow shows what comes');
  });
});
