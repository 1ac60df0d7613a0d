// Runs a random program as a session would: a turn is either a cold run over the journal or the previous turn's body,
// kept in memory. Steps end in any order, answers come alone or together, and sometimes the process dies with unwritten
// changes. After every turn the log must repeat that of the turn before, in the same order, before anything new.
import { flow } from '../../src/flow/define.ts';
import { BodyRun } from '../../src/flow/engine/body-run.ts';
import type { IncomingAnswer } from '../../src/flow/engine/run-input.ts';
import type { PendingStep } from '../../src/flow/engine/pending-ask.ts';
import { fold } from '../../src/flow/fold.ts';
import type { JournalEntry, StepEntry } from '../../src/flow/journal.ts';
import { play, randomProgram, seeded } from './flow-programs.ts';
import type { Random } from './flow-programs.ts';

const MAX_TURNS = 60;

/** What went wrong, or undefined. */
export async function replays(seed: number): Promise<string | undefined> {
  const random = seeded(seed);
  const program = randomProgram(random);
  let log: string[] = [];
  const subject = flow({ name: 'random' }, async (ask) => {
    await play(program, ask, log);
    return log.join(' ');
  });
  const journal: JournalEntry[] = [
    { t: 'start', input: {}, seed: 'AAAAAAAAAAAAAAAAAAAAAA', ts: 1_000_000 + (seed % 1000) },
  ];
  let past: string[] = [];
  let open: string[] = [];
  let waiting: { run: BodyRun; log: string[] } | undefined;
  let now = 2_000_000;
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const dies = random() < 0.1;
    const turnInput = { incoming: chosen(random, open), checks: 'off' as const, now: (now += 7) };
    const isWarm = random() < 0.5 && waiting !== undefined;
    log = isWarm ? waiting!.log : [];
    const mine = log;
    const run = isWarm
      ? waiting!.run
      : new BodyRun({ flow: subject, folded: fold(journal), sessionId: 's' }, turnInput);
    if (isWarm) run.resume(turnInput);
    waiting = undefined;
    let rest = await run.next();
    for (; rest.kind === 'steps' || rest.kind === 'save'; rest = await run.next()) {
      if (dies && random() < 0.5) break;
      journal.push(...run.take());
      if (rest.kind === 'steps') for (const want of rest.steps) start(run, want, random, () => (now += 3));
      past = checkPrefix(past, mine);
    }
    if (past.some((word, at) => mine[at] !== word)) return told(seed, past, mine);
    if (run.replayQueue.unasked.length > 0) return `seed ${seed}: nobody asked for ${run.replayQueue.unasked.join()}`;
    if (dies) continue;
    journal.push(...run.take());
    past = mine.slice();
    if (rest.kind === 'ended' || rest.kind === 'failed')
      return checkWhole(seed, { subject, journal, past }, () => (log = []));
    if (rest.kind === 'asks') open = rest.asks.map(({ spec }) => `${spec.key} ${spec.kind}`);
    if (run.canWait) waiting = { run, log: mine };
  }
  return undefined;
}

/** The longer of two logs; a turn in which steps ran has logged more by now. */
function checkPrefix(past: string[], now: string[]): string[] {
  return now.length >= past.length && past.every((word, at) => now[at] === word) ? now.slice() : past;
}

async function checkWhole(
  seed: number,
  { subject, journal, past }: { subject: ReturnType<typeof flow>; journal: JournalEntry[]; past: string[] },
  clear: () => string[],
): Promise<string | undefined> {
  const log = clear();
  const run = new BodyRun({ flow: subject, folded: fold(journal), sessionId: 's' }, { checks: 'off', now: 0 });
  const rest = await run.next();
  if (rest.kind !== 'ended' && rest.kind !== 'failed') return `seed ${seed}: the whole journal leads to ${rest.kind}`;
  if (run.replayQueue.unasked.length > 0) return `seed ${seed}: nobody asked for ${run.replayQueue.unasked.join()}`;
  return log.join() === past.join() ? undefined : told(seed, past, log);
}

function chosen(random: Random, open: string[]): IncomingAnswer[] {
  const shuffled = open.map((one) => ({ one, at: random() })).sort((a, b) => a.at - b.at);
  const count = 1 + Math.floor(random() * open.length);
  return shuffled.slice(0, count).map(({ one }) => {
    const [k, kind] = one.split(' ') as [string, string];
    const v =
      kind === 'confirm'
        ? random() < 0.5
        : kind === 'number'
          ? Math.floor(random() * 10)
          : `v${Math.floor(random() * 10)}`;
    const declined = random() < 0.08 && kind !== 'confirm';
    return { t: 'in', k, a: 1, src: 'human', via: 'flow', ...(declined ? { no: 'cancelled' as const } : { v }) };
  });
}

/** Ends after any number of turns of the event loop, or of microtasks. */
function start(run: BodyRun, want: PendingStep, random: Random, tick: () => number): void {
  run.stepStarted(want);
  const [rounds, micro] = [Math.floor(random() * 4), Math.floor(random() * 4)];
  const entry: StepEntry = { t: 'step', k: want.spec.key, att: 1, ts: 0 };
  if (random() < 0.15) entry.e = { name: 'Error', message: `broken ${Math.floor(random() * 3)}` };
  else entry.v = Math.floor(random() * 10);
  void (async () => {
    for (let at = 0; at < rounds; at++) await new Promise((resolve) => setImmediate(resolve));
    for (let at = 0; at < micro; at++) await Promise.resolve();
    run.stepFinished(want, { ...entry, ts: tick() });
  })();
}

function told(seed: number, past: string[], now: string[]): string {
  return `seed ${seed}: was ${past.join(' ')}\nnow ${now.join(' ')}`;
}
