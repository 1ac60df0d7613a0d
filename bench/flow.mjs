// What a turn of a flow costs: sessions in memory, the cost of replaying longer and longer journals, and how many idle sessions fit
// into a gigabyte. One thread, one process, no network. CPU time is what to look at on a busy machine.
//   node bench/flow.mjs [seconds]
import { performance } from 'node:perf_hooks';
import { Sessions, f, flow, memoryStore, settled } from '../dist/_entries/flow.js';

const SECONDS = Number(process.argv[2] ?? 5);
const me = { principal: 'bench' };
const limits = { sessionsPerPrincipal: 1e9, sessions: 1e9, respondsPerSecond: 1e9, prompts: 1e6, journalBytes: 1e9 };
const options = (more) => ({ limits, checks: 'off', explore: false, ...more });

const book = flow({ name: 'book' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?', min: 2 });
  const day = await ask.date('day', { message: `When to ${city}?` });
  const cls = await ask.choice('cls', ['economy', 'business'], { message: 'Class?' });
  const who = await ask.form('who', { name: f.text(), age: f.number({ min: 0 }) });
  const price = await ask.step('quote', () => city.length * 10);
  const ok = await ask.confirm('ok', { message: `Pay ${price}?` });
  return { city, day, cls, who, price, ok };
});
const ANSWERS = { city: 'Paris', day: '2027-05-15', cls: 'economy', who: { name: 'Ada', age: 36 }, ok: true };

const survey = (count) =>
  flow({ name: 'survey' }, async (ask) => {
    for (let at = 0; at < count; at++) await ask.text('q', { message: 'And?' });
    return 'done';
  });

console.log(`node ${process.version}, ${SECONDS} s each`);
await turns(1);
await turns(64);
await replays();
await idle();

/** Turns of the booking flow, so many sessions at once. */
async function turns(atOnce) {
  const sessions = new Sessions([book], options());
  const play = async () => {
    let count = 1;
    let turn = await sessions.start({ ...me, tool: 'book' });
    for (; turn.questions.length > 0; count++) {
      const answers = turn.questions.map(({ promptId, key }) => ({ promptId, value: ANSWERS[key] }));
      turn = await settled(await sessions.answer({ ...me, sessionId: turn.header.id, answers }));
    }
    return count;
  };
  for (let warm = 0; warm < 300; warm++) await play();
  const latencies = [];
  let done = 0;
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  const worker = async () => {
    while (performance.now() - began < SECONDS * 1000) {
      const at = performance.now();
      const count = await play();
      latencies.push((performance.now() - at) / count);
      done += count;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const [wall, used] = [performance.now() - began, process.cpuUsage(cpu)];
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(latencies.length * share)].toFixed(3);
  console.log(
    `memory, ${atOnce} at once: ${Math.round((done / wall) * 1000)} turns/s, ` +
      `${((used.user + used.system) / done).toFixed(1)} us CPU per turn, per turn p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
  );
  await sessions.close();
}

/** One turn after so many answers. */
async function replays() {
  for (const length of [1, 10, 100, 500, 1000]) {
    const sessions = new Sessions([survey(length + 200)], options());
    let { header } = await sessions.start({ ...me, tool: 'survey' });
    const answer = async () => {
      ({ header } = await sessions.answer({ ...me, sessionId: header.id, answers: [{ value: 'fine' }] }));
    };
    for (let at = 0; at < length; at++) await answer();
    const cpu = process.cpuUsage();
    const began = performance.now();
    for (let at = 0; at < 100; at++) await answer();
    const used = process.cpuUsage(cpu);
    const [each, wall] = [(used.user + used.system) / 100, (performance.now() - began) / 100];
    console.log(`a turn after ${length}-${length + 100} answers: ${each.toFixed(0)} us CPU, ${wall.toFixed(2)} ms`);
    await sessions.close();
  }
}

async function idle() {
  const sessions = new Sessions([book], options({ store: memoryStore() }));
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const COUNT = 50_000;
  for (let at = 0; at < COUNT; at++) {
    const { header } = await sessions.start({ ...me, tool: 'book' });
    await sessions.answer({ ...me, sessionId: header.id, answers: [{ value: 'Paris' }] });
  }
  globalThis.gc?.();
  const each = (process.memoryUsage().heapUsed - before) / COUNT;
  console.log(
    `idle: ${Math.round(each)} B per session, ${(1e9 / each / 1e6).toFixed(2)} million per GB${globalThis.gc ? '' : ' (run with --expose-gc)'}`,
  );
}
