// The figures of run-wrap.mjs: CPU of a call, and what it is beside the relay's.
import { median, quantile } from './quantile.mjs';

const NAMES = { http: 'HTTP', stdio: 'stdio', handshake: '2025-11-25', stateless: '2026-07-28' };
const SIZES = { small: 'small, 64 in flight', large: '1 MB' };

export const RATIO =
  'CPU µs per call: the lowest tenth of the rounds, and its ratio to the relay (the median of the ratios within rounds).';

/** What others do on the machine only ever adds. */
function lowest(values) {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.1,
  );
}

function figuresOf({ rounds }) {
  const { relay } = rounds;
  return Object.entries(rounds)
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => ({
      name,
      cpu: lowest(values),
      ratio: lowest(values) / lowest(relay),
      inRounds: median(values.map((value, round) => value / relay[round])),
    }));
}

const titleOf = ({ group: { from, to, era }, size }) => `${NAMES[from]} → ${NAMES[to]}, ${NAMES[era]}, ${SIZES[size]}`;

export function wrapLine(cell) {
  const parts = figuresOf(cell).map(
    ({ name, cpu, ratio, inRounds }) => `${name} ${cpu.toFixed(1)} = ${ratio.toFixed(2)} (${inRounds.toFixed(2)})`,
  );
  return `${titleOf(cell)}\n  ${parts.join(' · ')}`;
}

/** CPU beside the relay's at most this. */
const AIMS = {
  'http-stdio': { small: 1.2, large: 1.3 },
  'stdio-http': { small: 1.2 },
  'http-http': { small: 1.5 },
};
const PEERS_AIM = 6;

export function wrapTable({ cpu, cores, node, date, commit, plan, seconds }, cells) {
  const names = [...new Set(cells.flatMap(({ rounds }) => Object.keys(rounds)))];
  const earlier = names.filter((name) => name.startsWith('parley ') && !name.includes('('));
  const head = [
    'CPU µs per call (÷ relay; median of the ratios within rounds)',
    ...names,
    'aim',
    'cheapest other gateway ÷ parley',
    ...earlier.map((name) => `parley ÷ ${name}`),
  ];
  const lines = cells.map((cell) => {
    const figures = new Map(figuresOf(cell).map((one) => [one.name, one]));
    return [
      titleOf(cell),
      ...names.map((name) => toText(name, figures.get(name))),
      aimOf(cell, figures),
      peersOf(figures),
      ...earlier.map((name) => besideEarlier(figures, name)),
    ];
  });
  const about = `Commit ${commit}. ${cpu}, ${cores} cores, Node ${node}, ${date}; ${plan.lives} processes of each, ${plan.small.rounds} rounds of ${plan.small.ms} ms in each, in turns; ${seconds} s.`;
  return `${about}\n\n${[head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n')}`;
}

function aimOf({ group: { from, to }, size }, figures) {
  const aim = AIMS[`${from}-${to}`]?.[size];
  if (aim === undefined) return '–';
  return `≤ ${aim}: ${figures.get('parley').ratio <= aim ? 'met' : 'not met'}`;
}

/** Beside gateways of others, which are all but the relay and builds of ours. */
function peersOf(figures) {
  const others = [...figures.values()].filter(({ name }) => name !== 'relay' && !name.startsWith('parley'));
  if (others.length === 0) return '–';
  const ratio = Math.min(...others.map(({ cpu }) => cpu)) / figures.get('parley').cpu;
  return `${ratio.toFixed(1)} (≥ ${PEERS_AIM}: ${ratio >= PEERS_AIM ? 'met' : 'not met'})`;
}

/** No cell may be dearer than in an earlier build. */
function besideEarlier(figures, name) {
  const before = figures.get(name);
  if (!before) return '–';
  const { cpu, inRounds } = figures.get('parley');
  const ratio = cpu / before.cpu;
  return `${ratio.toFixed(2)}; ${(inRounds / before.inRounds).toFixed(2)} (≤ 1: ${ratio <= 1 ? 'met' : 'not met'})`;
}

function toText(name, figure) {
  if (!figure) return '–';
  const cpu = figure.cpu < 1000 ? figure.cpu.toFixed(1) : Math.round(figure.cpu).toLocaleString('en');
  return name === 'relay' ? cpu : `${cpu} (${figure.ratio.toFixed(2)}; ${figure.inRounds.toFixed(2)})`;
}
