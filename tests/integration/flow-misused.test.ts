// A mistake in the function of a flow: its author is told the line, its client what is wrong.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import type { Ask } from 'mcp-parley/flow';
import { testServer } from 'mcp-parley/testing';

const HERE = fileURLToPath(import.meta.url);

async function played(body: (ask: Ask) => Promise<unknown>) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const server = createServer({ name: 'trips', version: '1', log });
  serveFlows(server, [flow({ name: 'trip' }, body)], { checks: 'throw' });
  await using tested = await testServer(server, { onElicit: () => ({ action: 'cancel' }), revision: '2025-11-25' });
  const told = await tested.client.callTool('trip', {});
  const { where } = lines.find((line) => 'where' in line) ?? {};
  return { told: JSON.stringify(told), where: String(where) };
}

/** The number of the line that has this comment. */
function lineOf(mark: string): number {
  return (
    readFileSync(HERE, 'utf8')
      .split('\n')
      .findIndex((line) => line.endsWith(`// ${mark}`)) + 1
  );
}

test.each<[string, string, (ask: Ask) => Promise<unknown>]>([
  [
    'min above max',
    'more than max',
    async (ask) => {
      await ask.step('before', () => 1);
      return ask.number('n', { min: 3, max: 1 }); // min above max
    },
  ],
  [
    'a question inside of a step',
    'inside the step',
    (ask) =>
      ask.step('outer', async () => {
        await Promise.resolve();
        return ask.text('inner'); // a question inside of a step
      }),
  ],
  [
    'a step that is never awaited',
    'never awaited',
    async (ask) => {
      await ask.step('before', () => 1);
      void ask.step('charge', () => 1); // a step that is never awaited
    },
  ],
])('%s: the log has the line, and the client has not', async (mark, reason, body) => {
  const { told, where } = await played(body);
  expect(where.startsWith(`${HERE}:${lineOf(mark)}:`), where).toBe(true);
  expect(told).toContain(reason);
  expect(told).not.toContain('flow-misused.test.ts');
});
