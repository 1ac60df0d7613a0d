// Runs every behaviour in one cell: once per reference without the gateway, once per cell through it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGateway } from './gateway.mjs';
import { openV1 } from './peers/client-v1.mjs';
import { openV2 } from './peers/client-v2.mjs';
import { Never, Peer } from './peers/peer.mjs';
import { SERVE_HTTP } from './peers/serve-http.mjs';

const OPEN = { v1: openV1, v2: openV2 };
const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const WHO = {
  info: { name: 'differ', version: '1.0.0', title: 'Differ', websiteUrl: 'https://example.com/differ' },
  capabilities: {
    elicitation: { form: {}, url: {} },
    sampling: { tools: {}, context: {} },
    roots: { listChanged: true },
    experimental: { 'com.example/client': { a: 1 } },
    'x-capability': { b: [1] },
  },
};

/** Name of a behaviour → what it gave. */
export async function playDirectly({ server, client, era, transport }, behaviours) {
  return inFolder(async (file) => {
    const served = await serve(server, transport, file);
    try {
      return await playAll({ client, era, way: served.way, file }, behaviours);
    } finally {
      await served.close();
    }
  });
}

export async function playThrough({ server, client, era, way }, behaviours) {
  return inFolder(async (file) => {
    const served = await serve(server, way.server, file);
    const gateway = await createGateway(way.client, served.way);
    try {
      return await playAll({ client, era, way: gateway.way, file }, behaviours);
    } finally {
      await gateway.close();
      await served.close();
    }
  });
}

async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-diff-'));
  const file = join(folder, 'record.jsonl');
  writeFileSync(file, '');
  try {
    return await work(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function serve(server, transport, file) {
  if (transport === 'stdio') {
    return { way: { command: process.execPath, args: [at('peers/serve-stdio.mjs'), server, file] }, close() {} };
  }
  const { url, close } = await SERVE_HTTP[server](file);
  return { way: { url }, close };
}

async function playAll({ client, era, way, file }, behaviours) {
  const peer = await new Peer(file).open((hooks) => OPEN[client](way, { ...WHO, era }, hooks));
  const results = new Map();
  try {
    for (const { name, run, isOpen } of behaviours) results.set(name, await play(peer, run, isOpen));
  } finally {
    await peer.close();
  }
  return results;
}

/** What is known not to come is not waited for as long. */
async function play(peer, run, isOpen) {
  peer.begin({ isOpen });
  try {
    return { gave: JSON.parse(JSON.stringify((await run(peer)) ?? null)) };
  } catch (error) {
    if (error instanceof Never) return { never: error.message };
    return { broke: error.stack };
  }
}
