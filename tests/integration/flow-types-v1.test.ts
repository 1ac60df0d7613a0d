// SDK v1 is installed beside the other peers, outside the reach of the main type check: so its types are compiled here.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT } from '../helpers/files.ts';

const FLAGS = [
  '--ignoreConfig',
  '--noEmit',
  '--strict',
  '--skipLibCheck',
  '--module',
  'nodenext',
  '--target',
  'es2023',
];
const PEER = join(ROOT, 'tests/peers/node_modules/@modelcontextprotocol/sdk');

it.skipIf(!existsSync(PEER))('messages of MCP Flow extend Request of SDK v1', async () => {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const file = join(ROOT, 'tests/peers/flow-types-v1.ts');
  const args = [tsc, ...FLAGS, '--allowImportingTsExtensions', '--types', 'node', file];
  const outcome = await promisify(execFile)(process.execPath, args, { cwd: ROOT }).catch((error: unknown) => error);
  expect((outcome as { stdout: string }).stdout).toBe('');
});
