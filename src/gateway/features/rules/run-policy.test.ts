import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createCommandTools } from '../../../cli/command-tools.ts';
import type { RuleOptions } from './rule.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { runPolicy } from './run-policy.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const CALLS = [
  { principal: 'key:ann', server: 'crm', method: 'tools/call', name: 'find' },
  {
    principal: 'key:ann',
    server: 'crm',
    method: 'tools/call',
    name: 'delete',
    decision: { rule: 'rules[0]', effect: 'ask' },
  },
  { principal: 'key:bob', server: 'web', method: 'interaction.start', name: 'fetch' },
  { principal: 'key:ann', server: 'web', method: 'tools/call', name: 'fetch' },
  { principal: 'key:ann', server: 'mail', method: 'tools/call', name: 'send' },
  { principal: 'key:bob', server: 'mail', method: 'tools/call', name: 'send' },
];

async function test(rules: RuleOptions[], past: object[] = CALLS) {
  const server = { url: 'http://x.test/mcp' };
  const config = join(folder, 'parley.config.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { crm: server, web: server, mail: server }, rules }));
  const log = join(folder, 'log.jsonl');
  const time = (seq: number) => new Date(1_790_000_000_000 + seq * 1000).toISOString();
  const lines = past.map((call, seq) => JSON.stringify({ seq, prev: '', time: time(seq), kind: 'call', ...call }));
  writeFileSync(log, `${lines.join('\n')}\n{"seq":9,"prev":"","time":"${time(9)}","kind":"end"}\n`);
  const printed: string[] = [];
  const print = {
    line: (line: string) => printed.push(line),
    note: () => {},
    problem: (line: string) => printed.push(line),
  };
  const status = await runPolicy({ config, log, json: true }, createCommandTools(print as unknown as Printer));
  return {
    status,
    ...(JSON.parse(printed.join('\n')) as { calls: number; skipped: number; changed: object[]; depends: object[] }),
  };
}

describe('parley policy test', () => {
  it('knows the key of a call from the log', async () => {
    const call = { principal: 'key:ann', server: 'web', method: 'tools/call', name: 'fetch' };
    const past = ['lap1', 'lap2'].map((key) => ({ ...call, details: { key } }));
    const told = await test([{ principal: 'key:lap1', effect: 'deny' }], past);
    expect(told.changed).toMatchObject([{ principal: 'key:ann', after: ['deny'], calls: 1 }]);
  });

  it('shows what would change', async () => {
    const told = await test([
      { server: 'crm', tool: 'delete', effect: 'hide' },
      { principal: 'key:bob', effect: 'deny' },
    ]);
    expect(told).toMatchObject({ status: 0, calls: 6, skipped: 1, depends: [] });
    expect(told.changed).toEqual([
      { principal: 'key:ann', server: 'crm', name: 'delete', before: 'ask', after: ['hide'], unknown: [], calls: 1 },
      { principal: 'key:bob', server: 'web', name: 'fetch', before: 'allow', after: ['deny'], unknown: [], calls: 1 },
      { principal: 'key:bob', server: 'mail', name: 'send', before: 'allow', after: ['deny'], unknown: [], calls: 1 },
    ]);
  });

  it('counts unidentified callers as one, and a call that was recorded before its end once', async () => {
    const call = { server: 'crm', method: 'tools/call', name: 'find', exchange: 'x' };
    const past = ['a', 'b', 'c'].map((id) => ({ ...call, principal: `anonymous:session:#${id}`, outcome: 'ok' }));
    const told = await test([{ tool: 'find', effect: 'deny' }], [{ ...past[0], outcome: 'running' }, ...past]);
    expect(told).toMatchObject({ calls: 3, changed: [{ principal: 'anonymous', name: 'find', calls: 3 }] });
  });

  it('says what depends on what the log does not have', async () => {
    const { changed, depends } = await test([
      { tool: 'find', when: 'args.count > 3', effect: 'ask' },
      { tool: 'delete', effect: 'ask' },
      { group: 'staff', server: 'web', effect: 'deny' },
    ]);
    expect(changed).toEqual([]);
    expect(depends).toMatchObject([
      { name: 'find', after: ['ask', 'deny', 'allow'], unknown: ['arguments'] },
      { name: 'fetch', principal: 'key:bob', after: ['deny', 'allow'], unknown: ['groups'] },
      { name: 'fetch', principal: 'key:ann', after: ['deny', 'allow'], unknown: ['groups'] },
    ]);
  });

  it('replays what was read before', async () => {
    const { changed } = await test([
      { server: 'crm', marks: 'private' },
      { server: 'web', marks: 'untrusted' },
      { server: 'mail', marks: 'out' },
      { tool: 'delete', effect: 'ask' },
      { marked: 'out', after: ['private', 'untrusted'], effect: 'ask' },
    ]);
    expect(changed).toMatchObject([{ principal: 'key:ann', name: 'send', before: 'allow', after: ['ask'] }]);
  });
});
