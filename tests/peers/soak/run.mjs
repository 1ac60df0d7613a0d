// The soak: official clients come, call, cancel, are asked, leave or vanish, while servers die, hang and flood. When they have all
// gone, the processes, file handles and memory of the gateway must be back at their level.
//
//   node tests/peers/soak/run.mjs [--minutes 20] [--write]
//
// --write puts the figures into docs/evidence/borders.md. Needs /proc, so Linux.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installPeers } from '../harness/install.mjs';
import { renewBlock } from '../harness/page-block.mjs';
import { handlesOf, processesBelow } from './measure.mjs';

installPeers();
const { live } = await import('./clients.mjs');
const { toTable } = await import('./table.mjs');

const { values: options } = parseArgs({
  options: { minutes: { type: 'string', default: '20' }, write: { type: 'boolean' } },
});
const soakMs = Number(options.minutes) * 60_000;
const AT_ONCE = 4;
const WARM_UP = 48;
/** Idle sessions and connections end soon, so that the end of a run need not be waited for. */
const LIMITS = { sessionIdleMs: 10_000 };
/** A minute of grace for own processes of clients, the idle time of sessions, and a busy machine. */
const SETTLE_MS = 240_000;
/** Connections that stay: one to each server, and to the one of both eras two. */
const SHARED = 4;
/** Looks in a row that show the same; longer than sessions may be idle. */
const QUIET = 30;
const MORE_HANDLES = 10;
const MORE_HEAP = 12 * 1024 * 1024;

const program = fileURLToPath(new URL('gateway.mjs', import.meta.url));
const gateway = spawn(process.execPath, ['--expose-gc', program, JSON.stringify({ limits: LIMITS })], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const lines = createInterface({ input: gateway.stdout })[Symbol.asyncIterator]();
const nextLine = async () => JSON.parse((await lines.next()).value);
const { url } = await nextLine();

const figures = [];
const faults = [];
let served = 0;
await serve(WARM_UP);
await settle();
figures.push({ when: 'before', ...(await measure()) });
const end = Date.now() + soakMs;
const watch = watchPeaks();
await serve(Infinity, end);
figures.push({ when: 'highest', ...watch.stop() });
await settle();
figures.push({ when: 'after', ...(await measure()) });
gateway.stdin.end();
const code = await new Promise((resolve) => gateway.once('exit', resolve));
judge();

/** `count` clients, or as many as come until `until`, a few at a time. */
async function serve(count, until = Infinity) {
  let next = 0;
  const lane = async () => {
    while (next < count && Date.now() < until) {
      const number = next++;
      const fault = await live(number, url).catch((error) => `client ${number}: ${error.message}`);
      if (fault) faults.push(fault);
      served++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Until nothing changes any more: sessions of clients that vanished have ended, and so have the processes that were theirs. */
async function settle() {
  const [before] = figures;
  const most = { processes: before?.processes ?? SHARED, handles: before ? before.handles + MORE_HANDLES : Infinity };
  const until = Date.now() + SETTLE_MS;
  let [quiet, last] = [0, ''];
  while (Date.now() < until && quiet < QUIET) {
    const now = { processes: processesBelow(gateway.pid).length, handles: handlesOf(gateway.pid) };
    const isBack = now.processes <= most.processes && now.handles <= most.handles;
    quiet = isBack && JSON.stringify(now) === last ? quiet + 1 : 0;
    last = JSON.stringify(now);
    await delay(500);
  }
}

async function measure() {
  gateway.stdin.write('measure\n');
  const { rss, heapUsed } = await nextLine();
  return { processes: processesBelow(gateway.pid).length, handles: handlesOf(gateway.pid), rss, heapUsed };
}

function watchPeaks() {
  const peaks = { processes: 0, handles: 0 };
  const timer = setInterval(() => {
    peaks.processes = Math.max(peaks.processes, processesBelow(gateway.pid).length);
    peaks.handles = Math.max(peaks.handles, handlesOf(gateway.pid));
  }, 1000);
  return {
    stop() {
      clearInterval(timer);
      return peaks;
    },
  };
}

function judge() {
  const [before, , after] = figures;
  if (after.processes > before.processes)
    faults.push(`${after.processes} processes are left, there were ${before.processes}`);
  if (after.handles > before.handles + MORE_HANDLES)
    faults.push(`${after.handles} file handles are left, there were ${before.handles}`);
  if (after.heapUsed > before.heapUsed + MORE_HEAP) {
    faults.push(`${after.heapUsed >> 20} MB of heap are left, there were ${before.heapUsed >> 20} MB`);
  }
  if (code !== 0) faults.push(`the gateway ended with ${code}`);
  const table = toTable(figures, { served, minutes: options.minutes, faults: faults.length });
  console.log(`\n${table}\n`);
  if (options.write) renewBlock('evidence/borders.md', 'soak', table);
  for (const fault of faults.slice(0, 20)) console.log(`✗ ${fault}`);
  if (faults.length === 0) console.log('Processes, handles and memory are back at their level.');
  console.log(`\n${served - Math.min(served, faults.length)} passed, ${faults.length} failed, 0 skipped`);
  process.exit(faults.length > 0 ? 1 : 0);
}
