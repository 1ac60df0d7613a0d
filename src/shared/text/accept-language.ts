// Reads the Accept-Language header.

/** Longer than browsers send. */
const MAX_CHARS = 500;

/** The languages in order of preference, as written, without unwanted ones (q=0). */
export function languagesOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  return text
    .slice(0, MAX_CHARS)
    .split(',')
    .map(toPreference)
    .filter(({ tag, weight }) => tag !== '' && weight > 0)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag);
}

function toPreference(range: string): { tag: string; weight: number } {
  const [tag = '', ...parameters] = range.split(';');
  const weight = parameters.map((one) => /^\s*q=(.+?)\s*$/i.exec(one)?.[1]).find((one) => one !== undefined);
  return { tag: tag.trim(), weight: weight === undefined ? 1 : Number(weight) || 0 };
}
