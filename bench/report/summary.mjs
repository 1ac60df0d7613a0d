// From rounds to the figures that are told: medians per subject, ratios of medians, and how far the rounds disagree.
import { cpus } from 'node:os';
import { quantile } from '../subject.mjs';

export function summarise(cell, rounds) {
  const subjects = {};
  for (const [name, batches] of Object.entries(rounds)) {
    const of = (figure) => median(batches.map((batch) => batch[figure]));
    subjects[name] = { cpu: of('cpu'), p50: of('p50'), p99: of('p99'), rate: of('rate'), rounds: batches };
  }
  return { ...cell, subjects, ratios: ratios(subjects) };
}

function ratios({ bare, parley, sdk }) {
  return {
    parleyToBare: ratio(parley, bare),
    sdkToBare: ratio(sdk, bare),
    sdkToParley: ratio(sdk, parley),
  };
}

/** CPU per call; low and high bound the middle half of the ratios within single rounds: what the machine's noise is worth. */
function ratio(one, other) {
  if (!one || !other) return undefined;
  const perRound = one.rounds.map(({ cpu }, round) => cpu / other.rounds[round].cpu).sort((a, b) => a - b);
  return { median: one.cpu / other.cpu, low: quantile(perRound, 0.25), high: quantile(perRound, 0.75) };
}

function median(values) {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

/** What a reader needs to judge the figures; nothing that names this machine. */
export function machine() {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? 'unknown processor',
    cores: all.length,
    node: process.versions.node,
    date: new Date().toISOString().slice(0, 10),
  };
}
