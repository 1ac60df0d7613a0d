// What a run prints about a conversation that is red.
import { stringify } from './json.mjs';
import { titleOf } from './sample.mjs';

const LONGEST = 400;

export function describe(item, { faults, log }, { seed }) {
  const lines = faults.flatMap((fault) => {
    if (fault.broke) return [`  ${fault.broke}`];
    if (fault.rule) return [`  rule: ${fault.rule.slice(0, 2 * LONGEST)}`];
    return [`  ${fault.at}`, `    - ${short(fault.direct)}`, `    + ${short(fault.through)}`];
  });
  const said = faults.some(({ broke }) => broke) && log ? [`  the gateway said: ${log.slice(-1000)}`] : [];
  return [`✗ ${titleOf(item)}`, ...lines, ...said, `  again: ${replayOf(item, seed)}`].join('\n');
}

export function replayOf(item, seed = 1) {
  return `npm run twin -- --seed ${seed} --only '${titleOf(item)}'`;
}

function short(value) {
  const text = value === undefined ? '(nothing)' : stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
