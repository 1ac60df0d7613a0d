// Flows as official clients list them: served by a process that runs none of them, with arguments that models accept.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exploreFile } from '../../../src/_entries/flow.ts';
import { ROOT } from '../../helpers/files.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { KINDS, connectSdk } from './helpers/sdk-clients.ts';

const dir = mkdtempSync(join(tmpdir(), 'parley-lists-'));
const explored = join(dir, 'flows.explored.json');
const SERVER = join(ROOT, 'tests/fixtures/servers/listed-flows.mjs');
const env = { ...(process.env as Record<string, string>), DIR: dir };

beforeAll(async () => {
  mkdirSync(join(dir, 'precious'));
  const found = await exploreFile(join(ROOT, 'tests/fixtures/explore/listed-flows.mjs'));
  writeFileSync(explored, JSON.stringify(found));
});
afterAll(() => removeFolder(dir));

interface Listed {
  name: string;
  inputSchema: { properties?: Record<string, object> };
}

/** What the API of a model asks of a list of tools. */
function expectAccepted(tools: readonly Listed[]): void {
  expect(tools.map(({ name }) => name).toSorted()).toEqual(['adaptive', 'disclose', 'long', 'wipe']);
  for (const tool of tools) {
    for (const name of Object.keys(tool.inputSchema.properties ?? {})) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
    expect(Buffer.byteLength(JSON.stringify(tool))).toBeLessThanOrEqual(4096);
  }
  expect(JSON.stringify(tools)).not.toMatch(/alpha|omega/i);
}

function argumentsOf(tools: readonly Listed[], tool: string): Record<string, object> {
  return tools.find(({ name }) => name === tool)!.inputSchema.properties ?? {};
}

function expectUntouched(): void {
  expect(existsSync(join(dir, 'precious'))).toBe(true);
  expect(existsSync(join(dir, 'runs'))).toBe(false);
}

describe('flows that a client lists', () => {
  test('an SDK v1 client on stdio is given the arguments in its first list, and no other list later', async () => {
    const client = new Client({ name: 'borders', version: '1.0.0' });
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    const args = [SERVER, explored, '--stdio'];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env, cwd: ROOT }));
    const { tools: first } = await client.listTools();
    expectAccepted(first);
    expect(Object.keys(argumentsOf(first, 'adaptive'))).toEqual(['name', 'q']);
    const { content } = (await client.callTool({ name: 'disclose', arguments: { country: 'FR', town: 'Lyon' } })) as {
      content: unknown;
    };
    expect(content).toEqual([{ type: 'text', text: 'FR Lyon' }]);
    expect((await client.listTools()).tools).toEqual(first);
    expect(changes).toBe(0);
    await client.close();
    expectUntouched();
  });

  test.each(KINDS)('%s over HTTP is given names, texts and choices that hold in every session', async (kind) => {
    const child = spawn(process.execPath, [SERVER, explored], { env, cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
    const [url] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    const { client } = await connectSdk(kind, url.trim());
    const tools = (await client.listTools()).tools as Listed[];
    expectAccepted(tools);
    expect(argumentsOf(tools, 'adaptive')['q']).toEqual({ type: 'string', enum: ['yes', 'no'], description: 'Q' });
    expect(argumentsOf(tools, 'disclose')['town']).toEqual({ type: 'string', description: 'Which town?' });
    expect(argumentsOf(tools, 'wipe')).toEqual({});
    const { inputSchema } = tools.find(({ name }) => name === 'long')!;
    expect(inputSchema).toMatchObject({ description: expect.stringMatching(/it may ask \d+ more/) });
    await client.close();
    child.kill();
    await once(child, 'exit');
    expectUntouched();
  });
});
