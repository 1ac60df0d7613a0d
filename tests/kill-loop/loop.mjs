// Keeps some workers running on one store and kills them, one after the other, at random times.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url));
const AT_ONCE = 2;
/** A worker lives until it has printed this many lines, and a random time longer. So it does as much on a busy machine. */
const LONGEST_LIFE = 60;
const LONGEST_MOMENT_MS = 20;
/** Much longer than a worker is silent on a busy machine. Where commits are lost, all sessions may wait for something that never comes. */
const SILENT_MS = 90_000;

/** What all of them said, and how many were killed. */
export async function killLoop(told, kills) {
  const said = [];
  let killed = 0;
  const alive = async () => {
    while (killed < kills) {
      const worker = start(told, said);
      await worker.saidSome(Math.floor(Math.random() * LONGEST_LIFE));
      if (worker.isSilent()) throw new Error(`a worker said nothing for ${SILENT_MS / 1000} seconds: all is stuck`);
      setTimeout(() => worker.child.kill('SIGKILL'), Math.random() * LONGEST_MOMENT_MS);
      const signal = await worker.ended;
      if (signal !== 'SIGKILL') throw new Error(`a worker ended by itself: ${worker.complaints()}`);
      killed++;
    }
  };
  const lives = Array.from({ length: AT_ONCE }, alive);
  await Promise.all(lives).finally(() => killAll());
  return { said, kills: killed, byFault: said.filter(({ kind }) => kind === 'fault').length };
}

/** A last process, which nobody kills, brings everything to its end. */
export async function finish(told) {
  const said = [];
  const worker = start({ ...told, faults: {}, finish: true }, said);
  const signal = await worker.ended;
  if (worker.isSilent()) throw new Error(`the last worker said nothing for ${SILENT_MS / 1000} seconds`);
  if (signal !== 0) throw new Error(`the last worker failed: ${worker.complaints()}`);
  return said;
}

const running = new Set();

function killAll() {
  for (const child of running) child.kill('SIGKILL');
}

function start(told, said) {
  const child = spawn(process.execPath, [WORKER, JSON.stringify(told)], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => (complaints += chunk));
  const lines = createInterface({ input: child.stdout });
  const drained = once(lines, 'close');
  let isSilent = false;
  const silence = setTimeout(() => {
    isSilent = true;
    child.kill('SIGKILL');
  }, SILENT_MS);
  lines.on('line', (line) => {
    silence.refresh();
    said.push(JSON.parse(line));
  });
  const closed = once(child, 'close');
  const ended = closed.then(async ([code, signal]) => {
    clearTimeout(silence);
    running.delete(child);
    await drained;
    return signal ?? code;
  });
  /** Resolves after so many lines, or its end. */
  const saidSome = (count) =>
    new Promise((resolve) => {
      let left = count;
      lines.on('line', () => left-- === 0 && resolve());
      void closed.then(resolve);
    });
  return { child, saidSome, ended, isSilent: () => isSilent, complaints: () => complaints };
}
