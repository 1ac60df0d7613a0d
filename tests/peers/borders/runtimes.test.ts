// The web-standard handler on Bun and Deno, called by both official SDKs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../../helpers/files.ts';

const SERVER = join(import.meta.dirname, 'servers', 'web-server.mjs');
/** Longer than Bun leaves a silent connection open by default. */
const SILENT_MS = 10_500;
const RUNTIMES = [
  { name: 'Bun', program: '@oven/bun-linux-x64/bin/bun', args: [], silentMs: SILENT_MS },
  { name: 'Deno', program: '@deno/linux-x64-glibc/deno', args: ['run', '-A', '--no-lock'], silentMs: 50 },
];

describe.each(RUNTIMES)('on $name', ({ name, program, args, silentMs }) => {
  const path = join(ROOT, 'tests', 'runtimes', 'node_modules', program);
  test.skipIf(!isInstalled(name, path))('both SDKs call, hear of progress, are asked, and wait', async () => {
    const env = { ...process.env, DENO_NO_UPDATE_CHECK: '1' };
    const server = spawn(path, [...args, SERVER], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
      const clients = [await v1(line), await v2(line)];
      const said = await Promise.all(clients.map((client) => useAll(client, silentMs)));
      expect(said).toEqual(clients.map(() => ['5', 'done', 'Hello Ada', 'waited', [1, 2, 3]]));
      await Promise.all(clients.map((client) => client.close()));
    } finally {
      server.kill();
      await once(server, 'close');
    }
  });
});

async function useAll(client: ClientV1 | ClientV2, silentMs: number): Promise<unknown[]> {
  const heard: number[] = [];
  const onprogress = ({ progress }: { progress: number }) => void heard.push(progress);
  const steps = { name: 'steps', arguments: {} };
  const results = [
    await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } }),
    client instanceof ClientV1
      ? await client.callTool(steps, undefined, { onprogress })
      : await client.callTool(steps, { onprogress }),
    await client.callTool({ name: 'ask', arguments: {} }),
    await client.callTool({ name: 'wait', arguments: { ms: silentMs } }),
  ];
  return [...results.map(textOf), heard];
}

function textOf({ content }: { content: { text: string }[] }): string {
  return content[0].text;
}

async function v1(url: string): Promise<ClientV1> {
  const client = new ClientV1({ name: 'v1', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { answer: 'Ada' } }));
  await client.connect(new HttpV1(new URL(url)));
  return client;
}

async function v2(url: string): Promise<ClientV2> {
  const client = new ClientV2(
    { name: 'v2', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { answer: 'Ada' } }));
  await client.connect(new HttpV2(new URL(url)));
  return client;
}

function isInstalled(name: string, path: string): boolean {
  if (existsSync(path)) return true;
  const told = `${name} is not installed (npm ci --prefix tests/runtimes)`;
  if (process.env['PARLEY_TOOLS'] === 'required') throw new Error(told);
  console.warn(`skipped: ${told}`);
  return false;
}
