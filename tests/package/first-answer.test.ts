// What is loaded before the first answer of the built command: a client that starts it waits for all of that. Time itself is
// measured by the bench.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, serve } from '../../src/gateway/upstream/fixtures/serve.mjs';
import { MAIN, ensureBuilt } from '../helpers/built.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-first-answer-'));
const spy = join(folder, 'spy.cjs');
/** Says, on stderr and before the first line is written, what is there by then: parts of Node, and files of packages. */
const SPY = `const { write } = process.stdout;
process.stdout.write = function (...given) {
  process.stdout.write = write;
  const parts = process.moduleLoadList.filter((name) => name.startsWith('NativeModule ')).map((name) => name.slice(13));
  process.stderr.write('LOADED ' + JSON.stringify({ parts, files: Object.keys(require.cache) }) + '\\n');
  return write.apply(this, given);
};`;
/** Each takes milliseconds; `assert` and `http2` are what undici needs. */
const LATE = [
  'assert',
  'child_process',
  'crypto',
  'http2',
  'module',
  'os',
  'perf_hooks',
  'tls',
  'vm',
  'worker_threads',
];

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
  ensureBuilt();
  writeFileSync(spy, SPY);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(['handshake', 'stateless'] as const)('`parley wrap URL`, %s server', (serverEra) => {
  it.each(['handshake', 'stateless'] as const)(
    'answers a %s client before it loads what later calls need',
    async (era) => {
      const { method, result } = ERAS[serverEra];
      await using server = await serve(({ message }, response) => {
        if (message?.method === method) json(response, { jsonrpc: '2.0', id: message.id, result });
        else if (message?.id === undefined) response.writeHead(202).end();
        else json(response, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'unknown' } });
      });
      const { answer, parts, files } = await firstAnswer(server.url, ERAS[era]);
      expect(answer).toMatchObject({ id: 1, result: expect.anything() });
      expect(parts).toContain('http');
      expect(parts.filter((part) => LATE.includes(part))).toEqual([]);
      expect(files).toEqual([spy]);
    },
  );
});

async function firstAnswer(url: string, { method, params }: { method: string; params: object }) {
  const child = spawn(process.execPath, ['--require', spy, MAIN, 'wrap', url]);
  const exited = once(child, 'exit');
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
  const lines: string[] = [];
  createInterface(child.stderr).on('line', (line) => lines.push(line));
  const [answer] = (await once(createInterface(child.stdout), 'line', { signal: AbortSignal.timeout(20_000) })) as [
    string,
  ];
  child.stdin.end();
  await exited;
  const loaded = lines.find((line) => line.startsWith('LOADED '))!.slice('LOADED '.length);
  return { answer: JSON.parse(answer) as unknown, ...(JSON.parse(loaded) as { parts: string[]; files: string[] }) };
}
