// Turns per second, CPU per turn and latency of sessions that are answered as fast as they ask. CPU is that of this process,
// and of the Redis server beside it where there is one.
import { readFileSync } from 'node:fs';
import { Sessions } from '../../dist/flow/session/sessions.js';
import { settled } from '../../dist/flow/session/turn.js';
import { createTokens } from '../../dist/flow/token/tokens.js';
import { TravellingSessions } from '../../dist/flow/token/travelling.js';
import { ANSWERS, trip } from './trip.mjs';

const LIMITS = { sessionsPerPrincipal: 1e9, sessions: 1e9, respondsPerSecond: 1e9, tombstoneMs: 0 };
/** As in production. */
const OPTIONS = { limits: LIMITS, checks: 'warn', warm: 1000 };
const ROUNDS = 5;
const PRINCIPAL = 'me';
const BEARER = { principal: PRINCIPAL, tool: 'trip', method: 'tools/call', args: {} };

/** Each gives the turns of one session, one after the other. */
export function throughStore(store, { warm = OPTIONS.warm } = {}) {
  const sessions = new Sessions([trip], { ...OPTIONS, store, warm });
  return {
    async *session() {
      let turn = await settled(await sessions.start({ principal: PRINCIPAL, tool: 'trip' }));
      const sessionId = turn.header.id;
      while (turn.questions.length > 0) {
        yield;
        const answers = turn.questions.map(({ promptId, key }) => ({ promptId, value: ANSWERS[key] }));
        turn = await settled(await sessions.answer({ principal: PRINCIPAL, sessionId, answers }));
      }
      if (turn.header.state !== 'completed') throw new Error(`it ended as ${turn.header.state}`);
      yield;
    },
    sessions,
    close: () => sessions.close(),
  };
}

export function throughTokens() {
  const travelling = new TravellingSessions([trip], { ...OPTIONS, tokens: createTokens({ keys: ['key'] }) });
  return {
    async *session() {
      let { turn, token } = await travelling.start({ principal: PRINCIPAL, tool: 'trip' }, BEARER);
      while (token !== undefined) {
        yield;
        const answers = turn.questions.map(({ promptId, key }) => ({ promptId, value: ANSWERS[key] }));
        const act = ({ id }, sessions) => sessions.answer({ principal: PRINCIPAL, sessionId: id, answers });
        ({ turn, token } = await travelling.go(token, BEARER, act));
      }
      if (turn.header.state !== 'completed') throw new Error(`it ended as ${turn.header.state}`);
      yield;
    },
    close: () => travelling.sessions.close(),
  };
}

/**
 * A number of turns, not of seconds: on a busy machine a warm-up by time would end before the code is compiled. In rounds, of which
 * the cheapest is told: what others do on the machine only ever adds.
 */
export async function measure(way, { inFlight, turns: wanted, pid }) {
  await run(way, inFlight, wanted / 2);
  const rounds = [];
  for (let at = 0; at < ROUNDS; at++) rounds.push(await round(way, { inFlight, turns: wanted / ROUNDS, pid }));
  rounds.sort((a, b) => a.cpu - b.cpu);
  return { ...rounds[0], medianCpu: rounds[ROUNDS >> 1].cpu };
}

async function round(way, { inFlight, turns: wanted, pid }) {
  const [cpu, other] = [process.cpuUsage(), cpuOf(pid)];
  const { latencies, elapsed } = await run(way, inFlight, wanted);
  const { user, system } = process.cpuUsage(cpu);
  const turns = latencies.length;
  latencies.sort((a, b) => a - b);
  const at = (part) => latencies[Math.min(turns - 1, Math.floor(turns * part))];
  return {
    turns: turns / (elapsed / 1000),
    cpu: (user + system) / turns,
    server: pid === undefined ? undefined : ((cpuOf(pid) - other) * 1000) / turns,
    p50: at(0.5),
    p99: at(0.99),
  };
}

async function run(way, inFlight, turns) {
  const latencies = [];
  const began = performance.now();
  const loop = async () => {
    while (latencies.length < turns) {
      let last = performance.now();
      for await (const _ of way.session()) {
        const now = performance.now();
        latencies.push(now - last);
        last = now;
      }
    }
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  return { latencies, elapsed: performance.now() - began };
}

/** Milliseconds that a process has run. */
function cpuOf(pid) {
  if (pid === undefined) return 0;
  const [ran] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(ran) / 1e6;
}
