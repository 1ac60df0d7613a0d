// `mcp-parley/testing` in a process that has nothing else to wait for, as a test runner that starts one per file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ROOT } from '../helpers/files.ts';

const PROGRAM = `
import { test } from 'node:test';
import { testStep } from 'mcp-parley/testing';

test('a client that cannot be asked', async () => {
  const tested = await testStep((exchange, next) => next());
  await tested.client.callTool('ask', {}).catch(() => {});
  await tested[Symbol.asyncDispose]();
});
`;

test('a client that cannot be asked gets its answer before the process ends', async () => {
  const args = ['--input-type=module', '--eval', PROGRAM];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  const [status] = (await once(child, 'close')) as [number];
  expect(said).toMatch(/# pass 1|pass 1/);
  expect(said).not.toContain('still pending');
  expect(status).toBe(0);
});
