// What a waiting session takes: memory of this process, of Redis, bytes of the SQLite file, and of a token.
import { statSync } from 'node:fs';
import { Redis } from 'ioredis';
import { BodyRun, createTokens, fold } from '../../dist/_entries/internals.js';
import { openStore, throughStore } from './engines/parley.mjs';
import { ANSWERS } from './plain-trip.mjs';
import { survey, surveyed } from './trip.mjs';

/** Bytes per session that waits for its fifth answer. `warm`: with its body. */
export async function sessionBytes(kind, count, { warm = 0 } = {}) {
  const subject = await openStore(kind);
  const api = throughStore(subject.store, { warm });
  const look = async () => {
    if (subject.port !== undefined) return redisMemory(subject.port);
    if (subject.path !== undefined) return statSync(subject.path).size + sizeOf(`${subject.path}-wal`);
    globalThis.gc();
    globalThis.gc();
    return process.memoryUsage().heapUsed;
  };
  const before = await look();
  let left = count;
  const loop = async () => {
    while (left-- > 0) {
      let turn = await api.start();
      for (let answers = 0; answers < 4; answers++) turn = await api.answer(turn, ANSWERS[turn.key]);
    }
  };
  await Promise.all(Array.from({ length: 64 }, loop));
  const bytes = ((await look()) - before) / count;
  await api.close();
  return bytes;
}

async function redisMemory(port) {
  const client = new Redis(port);
  const said = await client.info('memory');
  await client.quit();
  return Number(/used_memory_dataset:(\d+)/.exec(said)[1]);
}

function sizeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Length of a token, in bytes and in characters, after so many answers. */
export async function tokenSizes() {
  const now = 1_763_190_000_000;
  const tokens = createTokens({
    keys: ['a key of this test'],
    clock: { now: () => now + 60_000, after: () => () => {} },
  });
  const binding = { principal: 'p', method: 'tools/call', tool: 'survey', args: {} };
  const sealed = async (session) => {
    const token = await tokens.seal(session, binding);
    return { bytes: Buffer.from(token.slice(3), 'base64url').length, characters: token.length };
  };
  const { header, entries } = surveyed(0);
  const given = Object.entries(ANSWERS).map(([k, v], n) => {
    const ty = { day: 'date', ok: 'confirm', city: 'text' }[k] ?? 'choice';
    return { t: 'ans', k, a: 1, ty, v, src: 'human', via: 'mrtr', ts: now + n * 9000 };
  });
  return {
    none: await sealed({ header, entries }),
    six: await sealed({ header, entries: [...entries, ...given] }),
    fifty: await sealed(surveyed(50)),
  };
}

/** Milliseconds of CPU for one cold replay of a journal with so many answers. */
export async function replayCost(count) {
  const { header, entries } = surveyed(count);
  const rounds = Math.max(20, Math.round(20_000 / (count + 10)));
  const once = async () => {
    const told = { flow: survey, folded: fold(entries), sessionId: header.id };
    const rest = await new BodyRun(told, { now: header.createdAt, checks: 'off' }).next();
    if (rest.kind !== 'asks' || rest.asks.length !== 1) throw new Error(`the replay ended with ${rest.kind}`);
  };
  for (let round = 0; round < rounds / 2; round++) await once();
  const cpu = process.cpuUsage();
  for (let round = 0; round < rounds; round++) await once();
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1000 / rounds;
}
