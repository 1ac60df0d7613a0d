// Parley as a library. Bodies wait in memory and a run in a second is watched, as in production.
import { join } from 'node:path';
import {
  createRedisStore,
  createSqliteStore,
  createTokens,
  memoryStore,
  Sessions,
  settled,
  TokenSessions,
} from '../../../dist/_entries/internals.js';
import { folder, redis } from '../servers.mjs';
import { trip } from '../trip.mjs';

const LIMITS = { sessionsPerPrincipal: 1e9, sessions: 1e9, respondsPerSecond: 1e9, tombstoneMs: 0 };
const OPTIONS = { limits: LIMITS, checks: 'warn', warm: 1000 };
const PRINCIPAL = 'me';
const BEARER = { principal: PRINCIPAL, tool: 'trip', method: 'tools/call', args: {} };

const STORES = {
  memory: async () => ({ store: memoryStore() }),
  async sqlite({ key }) {
    const path = join(folder('sqlite'), 'flows.db');
    return { path, store: await createSqliteStore({ path, key }) };
  },
  async redis({ appendfsync = 'everysec' }) {
    const { pid, port, url } = await redis(appendfsync);
    return { server: pid, port, store: await createRedisStore({ url }) };
  },
};

export async function open({ store: kind, warm, ...options }) {
  if (kind === 'token') return { api: throughTokens() };
  const { store, server } = await openStore(kind, options);
  return { api: throughStore(store, { warm }), server };
}

export function openStore(kind, options = {}) {
  return STORES[kind](options);
}

export function throughStore(store, { warm = OPTIONS.warm } = {}) {
  const sessions = new Sessions([trip], { ...OPTIONS, store, warm });
  const told = ({ header, questions }) => ({ id: header.id, ...asked(header, questions) });
  return {
    start: async () => told(await settled(await sessions.start({ principal: PRINCIPAL, tool: 'trip' }))),
    async answer({ id: sessionId, promptId }, value) {
      return told(
        await settled(await sessions.answer({ principal: PRINCIPAL, sessionId, answers: [{ promptId, value }] })),
      );
    },
    async close() {
      await sessions.close();
      await store.close();
    },
  };
}

/** Each turn opens its token, replays it once, and seals the next. */
function throughTokens() {
  const travelling = new TokenSessions([trip], { ...OPTIONS, tokens: createTokens({ keys: ['a key of this test'] }) });
  const told = ({ turn, token }) => ({ token, ...asked(turn.header, turn.questions) });
  return {
    start: async () => told(await travelling.start({ principal: PRINCIPAL, tool: 'trip' }, BEARER)),
    async answer({ token, promptId }, value) {
      const answers = [{ promptId, value }];
      const act = ({ id }, sessions) => sessions.answer({ principal: PRINCIPAL, sessionId: id, answers });
      return told(await travelling.go(token, BEARER, act));
    },
  };
}

function asked({ state }, [question]) {
  if (!question && state !== 'completed') throw new Error(`it ended as ${state}`);
  return { key: question?.key, promptId: question?.promptId, message: question?.prompt.message };
}
