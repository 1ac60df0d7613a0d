import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPrinter } from '../../terminal/print.ts';
import { applyProposal, readWritten, withProposal } from './apply-proposal.ts';
import type { ListedTool } from './listed-tool.ts';
import { toProposals } from './proposals.ts';

const tool = (server: string, ownName: string, calls = 0, tokens = 100): ListedTool => ({
  name: `${server}__${ownName}`,
  server,
  ownName,
  calls,
  tokens,
});
const CONFIG = `{
  // my servers
  "mcpServers": {
    "github": { "command": "gh", "tools": { "deny": ["drop"] } }, // one
    "files": { "command": "files" }
  }
}
`;
const written = (text = CONFIG) => {
  const path = join(mkdtempSync(join(tmpdir(), 'parley-tools-')), 'parley.config.jsonc');
  writeFileSync(path, text);
  return readWritten(path)!;
};
const print = createPrinter({ out: { write: () => true }, err: { write: () => true } });

describe('proposals of parley tools', () => {
  it('tools that nobody has called are denied, beside what is denied already, and the file keeps its comments', () => {
    const config = written();
    const tools = [tool('github', 'used', 3), tool('github', 'b'), tool('github', 'a'), tool('files', 'read', 1)];
    const [proposal, ...others] = toProposals({ tools, written: config.value, days: 30 });
    expect(others).toEqual([]);
    expect(proposal).toMatchObject({ saves: 200, text: 'deny 2 of 3 tools of github, which nobody has called' });
    const spaceless = (text: string): string => text.replaceAll(/\s/g, '');
    const after = CONFIG.replace('["drop"]', '["drop", "a", "b"]');
    expect(spaceless(withProposal(config, proposal!))).toBe(spaceless(after));
  });

  it('a server that nobody has called is denied whole, and a group has the others', () => {
    const config = written('{ "servers": { "a": {}, "b": {}, "c": {} } }');
    const tools = [tool('a', 'x', 1), tool('b', 'y', 0, 500), tool('b', 'z'), tool('c', 'y')];
    const proposals = toProposals({ tools, written: config.value, days: 8 });
    expect(proposals.map(({ saves, changes }) => [saves, changes])).toEqual([
      [700, [{ path: ['groups'], value: { used: ['a'] } }]],
      [600, [{ path: ['servers', 'b', 'tools', 'deny'], value: ['*'] }]],
      [100, [{ path: ['servers', 'c', 'tools', 'deny'], value: ['*'] }]],
    ]);
  });

  it('a log of a few days says nothing about what is used', () => {
    expect(toProposals({ tools: [tool('github', 'a')], written: written().value, days: 6 })).toEqual([]);
  });

  it('a dear list is searched instead, unless the configuration says already what clients get', () => {
    const tools = [tool('github', 'a', 1, 20_000)];
    const config = written();
    const [proposal] = toProposals({ tools, written: config.value, days: 0 });
    expect(proposal!.saves).toBe(19_790);
    const text = withProposal(config, proposal!);
    expect(text).toContain('// my servers');
    const { value } = written(text);
    expect(value.steps).toEqual([{ discover: { mode: 'search', clients: { 'claude-code*': 'hints' } } }]);
    expect(toProposals({ tools, written: value, days: 0 })).toEqual([]);
    expect(toProposals({ tools, written: { ...config.value, steps: ['discover'] }, days: 0 })).toEqual([]);
  });

  it('servers that are not in this file, such as those of another gateway, are left alone', () => {
    expect(toProposals({ tools: [tool('elsewhere', 'a')], written: written().value, days: 30 })).toEqual([]);
    expect(toProposals({ tools: [tool('constructor', 'a')], written: written().value, days: 30 })).toEqual([]);
  });
});

describe('writing a proposal', () => {
  const tools = [tool('files', 'a'), tool('files', 'b', 1)];

  it('a proposal is written after a yes, and the file keeps its mode and byte order mark', async () => {
    const config = written(`\uFEFF${CONFIG.replaceAll('\n', '\r\n')}`);
    chmodSync(config.path, 0o640);
    const proposal = toProposals({ tools, written: config.value, days: 30 })[0]!;
    expect(await applyProposal(config, { proposal, isMeant: async () => true }, print)).toBe(true);
    const after = readFileSync(config.path, 'utf8');
    expect(after.startsWith('\uFEFF{\r\n  // my servers\r\n')).toBe(true);
    expect(after.replaceAll('\r\n', '')).not.toContain('\n');
    expect(readWritten(config.path)!.value).toMatchObject({
      mcpServers: { files: { command: 'files', tools: { deny: ['a'] } } },
    });
  });

  it('a proposal changes nothing after a no, or if the file has changed meanwhile', async () => {
    const config = written();
    const proposal = toProposals({ tools, written: config.value, days: 30 })[0]!;
    expect(await applyProposal(config, { proposal, isMeant: async () => false }, print)).toBe(false);
    expect(readFileSync(config.path, 'utf8')).toBe(CONFIG);
    const isMeant = async (): Promise<boolean> => {
      writeFileSync(config.path, '{}');
      return true;
    };
    expect(await applyProposal(config, { proposal, isMeant }, print)).toBe(false);
    expect(readFileSync(config.path, 'utf8')).toBe('{}');
  });

  it('only files in JSON without mistakes can be changed', () => {
    expect(readWritten(undefined)).toBeUndefined();
    expect(readWritten('/nowhere/parley.config.json')).toBeUndefined();
    const folder = mkdtempSync(join(tmpdir(), 'parley-tools-'));
    for (const [name, text] of [
      ['a.yaml', 'a: 1'],
      ['a.json', '{ "a": '],
      ['b.json', '[1]'],
    ] as const) {
      writeFileSync(join(folder, name), text);
      expect(readWritten(join(folder, name)), name).toBeUndefined();
    }
  });
});
