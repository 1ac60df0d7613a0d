// Checks what the built command loads before its first answer, because a client waits for all of it. The benchmark
// measures the time.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, serve } from '../../src/mcp/connect/fixtures/serve.mjs';
import { MAIN } from '../helpers/built.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-first-answer-'));
const spy = join(folder, 'spy.cjs');
/** Reports on stderr, before the first output line, which Node modules and package files are loaded. */
const SPY = `const { write } = process.stdout;
process.stdout.write = function (...given) {
  process.stdout.write = write;
  const parts = process.moduleLoadList.filter((name) => name.startsWith('NativeModule ')).map((name) => name.slice(13));
  process.stderr.write('LOADED ' + JSON.stringify({ parts, files: Object.keys(require.cache) }) + '\\n');
  return write.apply(this, given);
};`;
/**
 * Each takes milliseconds to load; undici needs `assert` and `http2`. Without those that `node:http` itself needs in
 * this Node.
 */
const late = new Set(
  'assert child_process crypto fs/promises http2 module os perf_hooks tls vm worker_threads'.split(' '),
);

const INFO = { name: 'test', version: '1' };
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: INFO };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': INFO,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const ERAS = {
  handshake: { method: 'initialize', params: INITIALIZE, result: { ...INITIALIZE, serverInfo: INFO } },
  stateless: {
    method: 'server/discover',
    params: { _meta: META },
    result: { supportedVersions: ['2026-07-28'], capabilities: {}, serverInfo: INFO },
  },
};

beforeAll(() => {
  writeFileSync(spy, SPY);
  const http = ['--require', spy, '--eval', "require('node:http'); process.stdout.write('')"];
  for (const part of readLoaded(spawnSync(process.execPath, http, { encoding: 'utf8' }).stderr).parts)
    late.delete(part);
  if (process.platform === 'win32') late.delete('crypto'); // no device to draw ids from
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(['handshake', 'stateless'] as const)('before a %s server', (serverEra) => {
  it.each(['handshake', 'stateless'] as const)(
    '`wrap` answers a %s client, then loads what calls need',
    async (era) => {
      await using server = await start(serverEra);
      const { answer, parts, files } = await firstAnswer(['wrap', server.url], era);
      expect(answer).toMatchObject({ id: 1, result: expect.anything() });
      expect(parts).toContain('http');
      expect(parts.filter((part) => late.has(part))).toEqual([]);
      expect(files).toEqual([spy]);
    },
  );

  it('`serve` does so, too, and parses its configuration', async () => {
    await using server = await start(serverEra);
    const config = join(folder, `${serverEra}.json`);
    writeFileSync(
      config,
      JSON.stringify({ mcpServers: { a: { url: server.url } }, steps: [{ timeout: { ms: 1000 } }] }),
    );
    const { answer, parts, files } = await firstAnswer(['serve', config, '--stdio'], 'handshake');
    expect(answer).toMatchObject({ id: 1, result: expect.anything() });
    // `os` finds the home folder, `fs/promises` reads the configuration. On a busy machine the gateway announces itself before it answers,
    // and listening on that socket loads `child_process`.
    const needed = new Set(['os', 'fs/promises', 'child_process']);
    expect(parts.filter((part) => late.has(part) && !needed.has(part))).toEqual([]);
    // Of all packages only the one that parses the configuration.
    expect(files.filter((file) => !/[\\/]node_modules[\\/]jsonc-parser[\\/]/.test(file))).toEqual([spy]);
  });
});

function start(era: keyof typeof ERAS): ReturnType<typeof serve> {
  const { method, result } = ERAS[era];
  return serve(({ message }, response) => {
    if (message?.method === method) json(response, { jsonrpc: '2.0', id: message.id, result });
    else if (message?.id === undefined) response.writeHead(202).end();
    else json(response, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'unknown' } });
  });
}

async function firstAnswer(args: string[], era: keyof typeof ERAS) {
  const { method, params } = ERAS[era];
  const child = spawn(process.execPath, ['--require', spy, MAIN, ...args], {
    env: { ...process.env, PARLEY_TRUST: folder },
  });
  const exited = once(child, 'exit');
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  const [answer] = await once(createInterface(child.stdout), 'line', { signal: AbortSignal.timeout(20_000) });
  child.stdin.end();
  await exited;
  return { answer: JSON.parse(String(answer)) as unknown, ...readLoaded(said) };
}

function readLoaded(said: string): { parts: string[]; files: string[] } {
  return JSON.parse(/^LOADED (.*)$/m.exec(said)![1]!) as { parts: string[]; files: string[] };
}
