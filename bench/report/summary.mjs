// From rounds to the figures that are told: medians per subject, ratios, and how far the rounds disagree.
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { median } from './quantile.mjs';

/** `rounds`: by subject, those of all its lives one after the other, `perLife` in each. */
export function summarise(cell, rounds, perLife) {
  const subjects = {};
  for (const [name, batches] of Object.entries(rounds)) {
    const of = (figure) => median(batches.map((batch) => batch[figure]));
    subjects[name] = { cpu: of('cpu'), p50: of('p50'), p99: of('p99'), rate: of('rate'), rounds: batches };
  }
  const { bare, parley, sdk } = subjects;
  const ratios = {
    parleyToBare: ratio(parley, bare, perLife),
    sdkToBare: ratio(sdk, bare, perLife),
    sdkToParley: ratio(sdk, parley, perLife),
  };
  return { ...cell, subjects, ratios };
}

/**
 * Of CPU per call: the median of the ratios within single rounds, and the lowest and highest median of one life. Servers
 * that took turns within a second saw the same machine. Its speed can change by half in the middle of a cell; then one
 * server's median over all rounds is from before and another's from after, and their ratio (`ofMedians`) says nothing.
 */
function ratio(one, other, perLife) {
  if (!one || !other) return undefined;
  const perRound = one.rounds.map(({ cpu }, round) => cpu / other.rounds[round].cpu);
  const lives = [];
  for (let from = 0; from < perRound.length; from += perLife) lives.push(median(perRound.slice(from, from + perLife)));
  return {
    median: median(perRound),
    low: Math.min(...lives),
    high: Math.max(...lives),
    ofMedians: one.cpu / other.cpu,
    lives,
  };
}

/** What a reader needs to judge the figures; nothing that names this machine. */
export function machine() {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? 'unknown processor',
    cores: all.length,
    node: process.versions.node,
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
  };
}

/** What was measured; `+` if files of the product or the bench differ from it. */
function commit() {
  const git = (...args) =>
    execFileSync('git', args, { cwd: new URL('../..', import.meta.url), encoding: 'utf8' }).trim();
  try {
    const isChanged =
      git('status', '--porcelain', '--', 'src', 'bench', ':!bench/RESULTS.md', 'package-lock.json') !== '';
    return `${git('rev-parse', '--short=8', 'HEAD')}${isChanged ? '+' : ''}`;
  } catch {
    return 'unknown'; // not a checkout
  }
}
