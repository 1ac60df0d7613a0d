// Parses the text format of Prometheus into an object: metric, then its labels in alphabetical order, then the value. Rejects any
// other format.

type ParsedMetrics = Record<string, Record<string, number> | undefined>;

const SAMPLE = /^([a-z_:][\w:]*)(?:\{(.*)\})? (-?[\d.e+-]+|NaN|\+Inf)$/i;
const LABEL = /([a-z_]\w*)="((?:[^"\\]|\\.)*)"/gi;

export function parseMetrics(text: string): ParsedMetrics {
  const parsed: ParsedMetrics = {};
  for (const line of text.split('\n')) {
    if (line === '' || /^# (HELP|TYPE) /.test(line)) continue;
    const match = SAMPLE.exec(line);
    if (!match) throw new Error(`no sample: ${line}`);
    const [, name, labels = '', value] = match;
    const pairs = [...labels.matchAll(LABEL)].map(([, label, text]) => `${label}=${text}`);
    (parsed[name!] ??= {})[pairs.sort().join(',')] = Number(value);
  }
  return parsed;
}
