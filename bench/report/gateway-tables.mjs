// The figures of the gateway bench for a terminal and for the page. Ratios stand beside what they are ratios of.
import { IN_FLIGHT } from '../gateway/measure.mjs';

const TRANSPORTS = { http: 'HTTP', stdio: 'stdio' };
const PEERS = ['supergateway', 'mcp-proxy', 'mcp-hub', 'sdk'];
const OURS = 'parley+chain';
const BUSIEST = `small${IN_FLIGHT.at(-1)}`;
const FIGURES = [
  ['CPU µs per call, 1 / 16 / 64', cpuText],
  ['÷ relay', (one, name) => over(one, name, 'relay')],
  ['calls/s', (one, name) => each((n) => one.taken.median(name, `small${n}`, 'rate'))],
  ['1 MB: + ms, CPU ms', (one, name) => largeText(one, name, 'large')],
  ['10 MB: + ms, CPU ms, + MB', (one, name) => largeText(one, name, 'huge')],
  ['64 slow ÷ 1', slowText],
  ['50 sessions: ms, + MB, servers', sessionsText],
  ['first answer / call ms', startText],
  ['idle MB', (one, name) => rounded(one.taken.median(name, 'idleMb'))],
];

/** For a terminal, when a group is done. */
export function groupLines(one) {
  const lines = rows(one).map((cells) =>
    cells
      .map((cell, index) => cell.padEnd(index === 0 ? 14 : 24))
      .join('')
      .trimEnd(),
  );
  return ['', title(one.group), ...lines];
}

export function gatewayTables({ cpu, cores, node, date, commit, plan }, measured) {
  const intro = `Commit ${commit}. ${cpu}, ${cores} cores, Node ${node}, ${date}; ${plan.lives} processes of each, ${plan.rounds} rounds of ${plan.ms} ms in each, ${plan.starts + plan.lives} starts.`;
  const tables = measured.map((one) => `#### ${title(one.group)}\n${table(rows(one))}${absentText(one)}`);
  return [intro, aims(measured), ...tables].join('\n\n');
}

function rows(one) {
  const names = one.names.filter((name) => one.taken.has(name, 'small1'));
  const used = FIGURES.map(([head, text]) => [head, names.map((name) => text(one, name))]).filter(([, texts]) =>
    texts.some((text) => text !== '–'),
  );
  const head = ['', ...used.map(([text]) => text)];
  return [head, ...names.map((name, index) => [name, ...used.map(([, texts]) => texts[index])])];
}

/** What the issue asks for, group by group. */
function aims(measured) {
  const head = [
    'group',
    `CPU ${OURS} ÷ relay, 1 / 16 / 64`,
    `best npm peer ÷ ${OURS}, 1 / 16 / 64`,
    'first answer wrap ÷ relay',
    '10 MB growth ÷ payload, wrap / chain',
    'idle MB, wrap / chain',
    '64 slow ÷ 1, relay / chain',
  ];
  const lines = measured.map((one) => {
    const { taken } = one;
    const grown = (name) => ratio((taken.median(name, 'hugeGrowthMb') ?? NaN) / 10);
    return [
      title(one.group),
      over(one, OURS, 'relay'),
      each((n) => bestPeer(one, `small${n}`), ratio),
      ratio(taken.compare(['parley', 'relay'], { figure: 'firstAnswerMs' }, divide)),
      `${grown('parley')} / ${grown(OURS)}`,
      `${rounded(taken.median('parley', 'idleMb'))} / ${rounded(taken.median(OURS, 'idleMb'))}`,
      `${slowText(one, 'relay')} / ${slowText(one, OURS)}`,
    ];
  });
  return table([head, ...lines]);
}

function bestPeer({ taken }, figure) {
  const of = PEERS.map((name) => taken.compare([name, OURS], { figure, part: 'cpu' }, divide));
  const known = of.filter((value) => value !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}

function cpuText({ taken }, name) {
  return each((n) => taken.median(name, `small${n}`, 'cpu'));
}

function over({ taken }, name, base) {
  return each((n) => taken.compare([name, base], { figure: `small${n}`, part: 'cpu' }, divide), ratio);
}

function largeText({ taken }, name, size) {
  if (!taken.has(name, size)) return '–';
  const added = taken.compare([name, 'direct'], { figure: size, part: 'p50' }, (one, direct) => one - direct);
  const cpu = taken.median(name, size, 'cpu') / 1000;
  const grown = size === 'huge' ? [rounded(taken.median(name, 'hugeGrowthMb'))] : [];
  return [rounded(added), rounded(cpu), ...grown].join(', ');
}

function slowText({ taken }, name) {
  const together = taken.median(name, 'slow', 'together');
  return ratio(together && together / taken.median(name, 'slow', 'alone'));
}

function sessionsText({ taken }, name) {
  if (!taken.has(name, 'sessions')) return '–';
  const of = (part) => rounded(taken.median(name, 'sessions', part));
  return `${of('ms')}, ${of('mb')}, ${taken.median(name, 'sessions', 'servers')}`;
}

function startText({ taken }, name) {
  if (!taken.has(name, 'firstAnswerMs')) return '–';
  return `${rounded(taken.median(name, 'firstAnswerMs'))} / ${rounded(taken.median(name, 'firstCallMs'))}`;
}

function absentText({ absent, names, taken }) {
  const told = names.filter((name) => absent[name]);
  if (told.length === 0) return '';
  return `\n\n${told.map((name) => `${name}${taken.has(name, BUSIEST) ? ' (in part)' : ''}: ${absent[name]}.`).join(' ')}`;
}

function title({ from, to, era, serverEra }) {
  const eras = era === serverEra ? era : `${era} client, ${serverEra} server`;
  return `${TRANSPORTS[from]} → ${TRANSPORTS[to]}, ${eras}`;
}

const table = ([head, ...lines]) =>
  [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const divide = (one, other) => one / other;

function each(of, write = rounded) {
  const texts = IN_FLIGHT.map((n) => write(of(n)));
  return texts.every((text) => text === '–') ? '–' : texts.join(' / ');
}

function ratio(value) {
  return value === undefined || Number.isNaN(value) ? '–' : value.toFixed(value < 10 ? 2 : 1);
}

function rounded(value) {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (Math.abs(value) < 10) return value.toFixed(1);
  return Math.round(value).toLocaleString('en');
}
