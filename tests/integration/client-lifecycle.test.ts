// A program that has closed its client, or could not connect, ends by itself: no process, socket or timer of ours holds it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createServer } from 'mcp-parley';
import { ROOT } from '../helpers/files.ts';
import { fixture, startHttp } from '../helpers/fixture-server.ts';
import { within } from '../helpers/until.ts';

const PROGRAM = join(ROOT, 'tests', 'fixtures', 'programs', 'use-and-leave.mjs');

/** What the program printed, once it has ended. */
async function run(address: object): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(address)], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  try {
    const [code] = (await within(`the program to end, which said "${said}"`, once(child, 'close'))) as [number];
    return code === 0 ? said : `${said}, exit code ${code}`;
  } finally {
    child.kill('SIGKILL');
  }
}

async function serve(revisions: string[]) {
  const server = createServer({ name: 'any', version: '1', revisions });
  server.tool('echo', {}, ({ text }) => String(text));
  const { url, port } = await server.listen({ port: 0 });
  return { url, port, [Symbol.asyncDispose]: () => server.close() };
}

describe.each(['2025-11-25', '2026-07-28', 'draft'])('a program that used a server of %s ends', (revision) => {
  test('over stdio', async () => {
    expect(await run(fixture('any-revision', [revision, '--stdio']))).toBe('used');
  });

  test('over HTTP', async () => {
    await using server = await serve([revision]);
    expect(await run({ url: server.url })).toBe('used');
  });

  test('over WebSocket', async () => {
    await using server = await serve([revision]);
    expect(await run({ url: `ws://127.0.0.1:${server.port}/ws` })).toBe('used');
  });
});

describe('a program ends', () => {
  test('that used the oldest HTTP transport', async () => {
    await using server = await serve(['2024-11-05']);
    expect(await run({ url: `http://127.0.0.1:${server.port}/sse`, transport: 'http+sse' })).toBe('used');
  });

  test('whose server never answered', async () => {
    expect(await run({ ...fixture('never-answers'), failing: true })).toBe('UPSTREAM_TIMEOUT');
  });

  test('whose server did not let it in', async () => {
    await using server = await startHttp(fixture('needs-login'));
    expect(await run({ url: server.url, failing: true })).toBe('UPSTREAM_UNAUTHORIZED');
  });

  test('whose server was not there', async () => {
    await using server = await startHttp(fixture('needs-login'));
    await server.stop();
    expect(await run({ url: server.url, failing: true })).toBe('UPSTREAM_UNREACHABLE');
    expect(await run({ url: `ws://127.0.0.1:${server.port}/ws`, failing: true })).toBe('UPSTREAM_UNREACHABLE');
  });
});
