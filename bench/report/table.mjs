// The same figures for a terminal and for the page.
const TRANSPORTS = { http: 'HTTP', stdio: 'stdio' };
const SIZES = { small: 'echo', large: '1 MB' };

const COLUMNS = ['bare', 'parley', 'sdk'];
const TERMINAL = [32, 18, 18, 18, 20, 20, 12];

const TITLES = ['cell', ...COLUMNS.map((name) => `${name} µs`), 'parley / bare', 'sdk / parley', 'sdk / bare'];

export const HEADING = [
  'CPU µs per call of the server process (p50 ms); ratios are of CPU, in brackets the lowest and highest process',
  row(TITLES),
].join('\n');

export function cellLine(cell) {
  const figures = COLUMNS.map((name) => {
    const one = cell.subjects[name];
    return one ? `${rounded(one.cpu)} (${rounded(one.p50)})` : '–';
  });
  const { parleyToBare, sdkToParley, sdkToBare } = cell.ratios;
  return row([cellName(cell), ...figures, ...[parleyToBare, sdkToParley, sdkToBare].map(ratioText)]);
}

export function markdownTable(cells) {
  const head = [
    'transport, era, call, in flight',
    'CPU µs per call: bare / **Parley** / SDK',
    '**Parley ÷ bare** (processes)',
    '**SDK ÷ Parley** (processes)',
    'SDK ÷ bare',
    'p50 ms: bare / Parley / SDK',
    'p99 ms',
    'calls/s',
  ];
  const lines = cells.map((cell) => {
    const of = (figure) => COLUMNS.map((name) => rounded(cell.subjects[name]?.[figure])).join(' / ');
    const { parleyToBare, sdkToParley, sdkToBare } = cell.ratios;
    const ratios = [ratioText(parleyToBare), ratioText(sdkToParley), sdkToBare?.median.toFixed(2) ?? '–'];
    return [cellName(cell), of('cpu'), ...ratios, of('p50'), of('p99'), of('rate')];
  });
  return [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function cellName({ transport, era, size, inFlight }) {
  return `${TRANSPORTS[transport]}, ${era}, ${SIZES[size]}, ${inFlight}`;
}

function ratioText(ratio) {
  return ratio ? `${ratio.median.toFixed(2)} (${ratio.low.toFixed(2)}–${ratio.high.toFixed(2)})` : '–';
}

function rounded(value) {
  if (value === undefined) return '–';
  if (value < 10) return value.toFixed(2);
  return Math.round(value).toLocaleString('en');
}

function row(fields) {
  return fields
    .map((field, index) => field.padEnd(TERMINAL[index]))
    .join('')
    .trimEnd();
}
