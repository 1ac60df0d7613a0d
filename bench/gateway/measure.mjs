// The figures of a group, contenders in turns. Each function takes the contenders that run and returns nothing: what it found
// is pushed to `taken` by name and figure, so that rounds and lives add up.
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicros, forgetPeak, peakMb, residentMb, serversOf } from './processes.mjs';

export const IN_FLIGHT = [1, 16, 64];
const SLOW_IN_FLIGHT = 64;
const SESSIONS = 50;
const IDLE_MS = 300;
const WARM_UP_TURN_MS = 300;

export async function idle(contenders, taken) {
  await sleep(IDLE_MS);
  for (const one of contenders) taken.push(one, 'idleMb', residentMb(one.pids));
}

/** By calls and not by time, as far as patience goes: a slow one would be measured before its code is compiled. */
export async function warmUp(contender, { warmUpCalls, warmUpMs }) {
  const until = performance.now() + warmUpMs;
  let calls = 0;
  while (calls < warmUpCalls && performance.now() < until) {
    const inFlight = contender.isSlow ? 1 : 16;
    const { latencies } = await contender.load('small', { inFlight, ms: WARM_UP_TURN_MS, fewest: 3 });
    calls += latencies.length;
  }
}

export async function smallCalls(turns, taken, { rounds, ms }) {
  for (const inFlight of IN_FLIGHT) {
    const fits = (one) => inFlight === 1 || !one.isSlow;
    await turns(1, fits, (one) => one.load('small', { inFlight, ms: ms / 2, fewest: 3 }));
    await turns(rounds, fits, async (one, round) => {
      taken.push(one, `small${inFlight}`, await one.measure('small', { inFlight, ms, fewest: 3 }), round);
    });
  }
}

export async function largeResults(turns, taken, { largeRounds }) {
  for (const [size, calls] of [
    ['large', 10],
    ['huge', 3],
  ]) {
    await turns(1, always, (one) => one.check(size));
    await turns(1, always, async (one) => taken.push(one, `${size}GrowthMb`, await growth(one, size, calls)));
    await turns(largeRounds, always, async (one, round) => {
      taken.push(one, size, await one.measure(size, { inFlight: 1, ms: 0, fewest: calls }), round);
    });
  }
}

/** How much more memory than before it has held at any time while it passed some large results, one after the other. */
async function growth(one, size, calls) {
  const { pids } = one;
  const before = residentMb(pids);
  forgetPeak(pids);
  await one.load(size, { inFlight: 1, ms: 0, fewest: calls });
  return peakMb(pids) - before;
}

/** How long many calls take that do nothing for a tenth of a second, all at once, beside one alone. */
export async function slowCalls(turns, taken, { largeRounds }) {
  const fits = (one) => !one.isSlow;
  await turns(largeRounds, fits, async (one) => {
    one.client.renew();
    const alone = await atOnce(one, 1);
    taken.push(one, 'slow', { alone, together: await atOnce(one, SLOW_IN_FLIGHT) });
  });
}

async function atOnce(one, calls) {
  const began = performance.now();
  await Promise.all(Array.from({ length: calls }, (_, lane) => sent(one.client, lane, one.callOf('slow'))));
  return performance.now() - began;
}

/** Clients that come at once, each with a session of its own and one call. They stay until the gateway is stopped. */
export async function sessions(turns, taken) {
  await turns(
    1,
    (one) => !one.isSlow,
    async (one) => {
      const before = residentMb(one.pids);
      const cpuBefore = cpuMicros(one.pids);
      const began = performance.now();
      await Promise.all(Array.from({ length: SESSIONS }, () => oneSession(one)));
      const ms = performance.now() - began;
      const { pids } = one;
      const cpu = (cpuMicros(pids) - cpuBefore) / SESSIONS;
      taken.push(one, 'sessions', { ms, cpu, mb: residentMb(pids) - before, servers: serversOf(one.rootPid) });
    },
  );
}

async function oneSession(one) {
  await sent(await one.newClient(() => false), 0, one.newCall('small'));
}

function sent(client, lane, call) {
  return new Promise((resolve, reject) => {
    client.send(lane, call, (error) => (error ? reject(error) : resolve()));
  });
}

const always = () => true;
