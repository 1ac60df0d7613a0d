import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { connect } from '../../../sdk/client/connect.ts';
import type { Step } from '../../../kernel/step.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { createGateway } from '../../gateway.ts';
import { filter } from './filter.ts';
import { onCall } from '../../chain/to-step.ts';
import { watchStep } from '../../chain/load/watch-step.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-rules-'));
const log = createLog({ level: 'silent' });
const OWN = `import { onCall } from 'mcp-parley/middleware';
  export default onCall(async function mine(exchange, next) { return next(); });`;
const path = join(folder, 'mine.ts');
writeFileSync(path, OWN);
const watched = await watchStep(path, { log });
afterAll(() => {
  watched.close();
  rmSync(folder, { recursive: true });
});

/** What the log says of rules once tools were listed. */
async function reported(steps: Step[], tools?: { deny: string[] }): Promise<object[]> {
  const lines: string[] = [];
  const server = createServer({ name: 'notes', version: '1', log });
  server.tool('write', {}, () => 'written');
  server.prompt('plan', {}, () => 'a plan');
  const gateway = createGateway({
    servers: { notes: tools ? { server, tools } : server },
    steps,
    log: createLog({ level: 'warn', write: (line) => lines.push(line) }),
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await gateway.connect(theirs);
  const client = await connect(ours, { log });
  await client.listTools();
  const unmatched = () =>
    lines.map((line) => JSON.parse(line) as { event: string }).filter(({ event }) => event === 'rule.unmatched');
  await vi.waitFor(() => expect(unmatched()).not.toEqual([]), { timeout: 5000 });
  await client.close();
  await gateway.close();
  return unmatched();
}

describe('a rule that matches nothing is reported', () => {
  const rule = filter({ deny: ['delete_*'] });
  const mine = onCall(async (_exchange, next) => next());

  it.each<[string, Step[]]>([
    ['alone', [rule]],
    ['behind a step of my own', [mine, rule]],
    ['before a step of my own', [rule, mine]],
    ['behind a file with a step of my own', [watched.step, rule]],
    ['before a file with a step of my own', [rule, watched.step]],
  ])('%s', async (_, steps) => {
    expect(await reported(steps)).toMatchObject([{ step: 'filter', rule: 'delete_*' }]);
  });

  it('a rule that matches nothing is reported with the server in whose entry it stands, and what to do', async () => {
    const [line] = await reported([], { deny: ['delete_*'] });
    expect(line).toMatchObject({
      server: 'notes',
      rule: 'delete_*',
      in: '"tools" of the server notes',
      reason: 'it matches no tool of this server',
      advice: expect.stringContaining('ls tools'),
    });
    expect(line).not.toHaveProperty('step');
  });
});
