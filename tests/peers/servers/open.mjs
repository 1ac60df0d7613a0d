// Opens the server of a cell over the transport of the cell, with a tap in between. Gives the way in for a client, and
// everything that was said once it is closed.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { startHttpTap } from '../../schemas/tap/tap-http.mjs';
import { tapTransport } from '../../schemas/tap/tap-transport.mjs';
import { dist } from '../harness/parley.mjs';
import { HTTP_SERVERS } from './http.mjs';

const PATHS = { http: '/mcp', sse: '/sse', websocket: '/ws' };

/** `{ command, args } | { url } | { transport }` for the client, `onStream` where there is one, `close()` → records. */
export function openServer({ kind, variant, transport, options }) {
  if (transport === 'stdio') return openStdio(kind, options);
  if (transport === 'memory') return openMemory(kind, options);
  if (kind === 'parley') return openHttp(kind, transport, options);
  return openHttp(`${kind}${transport === 'sse' ? '-sse' : (variant ?? '')}`, transport, options);
}

/** The client starts the process, and ends it. */
async function openStdio(kind, options) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-peers-'));
  const file = join(folder, 'record.jsonl');
  const program = fileURLToPath(new URL('stdio.mjs', import.meta.url));
  return {
    way: { command: process.execPath, args: [program, kind, file, dist, JSON.stringify(options)] },
    async close() {
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
      rmSync(folder, { recursive: true });
      return lines.map((line) => JSON.parse(line));
    },
  };
}

async function openHttp(kind, transport, options) {
  const records = [];
  const server = await HTTP_SERVERS[kind](options);
  const tap = await startHttpTap(server.origin, (record) => records.push(record));
  const origin = transport === 'websocket' ? tap.origin.replace('http', 'ws') : tap.origin;
  return {
    way: { url: new URL(PATHS[transport], origin) },
    onStream: server.onStream,
    async close() {
      await server.close();
      await tap.close();
      return records;
    },
  };
}

async function openMemory(kind, options) {
  const records = [];
  const [clientEnd, serverEnd] = InMemoryTransport.createLinkedPair();
  tapTransport(serverEnd, 'server', (record) => records.push(record));
  const server = await MEMORY_SERVERS[kind](serverEnd, options);
  return {
    way: { transport: clientEnd },
    async close() {
      await server.close();
      return records;
    },
  };
}

const MEMORY_SERVERS = {
  async parley(transport, options) {
    const { createParleyServer } = await import('./parley.mjs');
    const server = createParleyServer(options);
    await server.connect(transport);
    return server;
  },
  async v1(transport, options) {
    const { createV1Server } = await import('./v1.mjs');
    const server = createV1Server(options);
    await server.connect(transport);
    return server;
  },
  async v2(transport, options) {
    const [{ createV2Factory }, { serveStdio }] = await Promise.all([
      import('./v2.mjs'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    return serveStdio(createV2Factory(options), { transport });
  },
};
