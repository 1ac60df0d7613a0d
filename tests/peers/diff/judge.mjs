// Compares a behaviour through the gateway with the direct run: same, different for a listed reason, or wrong.
import { differences, plain } from './compare.mjs';

/** Members that only one era has; where the eras differ, they are left out on both sides. */
const OF_AN_ERA = new Set(['resultType', 'ttlMs', 'cacheScope']);
const ENVELOPE = /^io\.modelcontextprotocol\//;

export const SAME = { state: 'same', differences: [], reasons: [] };

/** What came out beside another direct run, which may have come to nothing. */
export function isSameAs(direct, through, cell) {
  if (!direct || direct.broke || direct.never || through.broke) return false;
  return differences(wordsOf(direct, cell), wordsOf(through, cell)).length === 0;
}

/** `{ state: 'same' | 'expected' | 'open' | 'different', differences, reasons }`. */
export function judge(behaviour, cell, { direct, through, expected, open }) {
  const [one, other] = [direct, through].map((value) => wordsOf(value, cell));
  const found = through.broke ? [{ at: '/', direct: one, through: through.broke }] : differences(one, other);
  if (found.length === 0) return SAME;
  const entries = found.map(({ at }) => expected.find((entry) => fits(entry, behaviour, cell, at)));
  if (entries.every(Boolean)) return { state: 'expected', differences: found, reasons: [...new Set(entries)] };
  const isKnown = open.some((entry) => entry.behaviour === behaviour.name && entry.cells.includes(cell.id));
  const left = found.filter((_, index) => !entries[index]);
  return { state: isKnown ? 'open' : 'different', differences: left, reasons: [...new Set(entries.filter(Boolean))] };
}

function wordsOf(value, { isBridged }) {
  const parsed = readTexts(value);
  return isBridged ? plain(withoutEra(parsed)) : parsed;
}

/** A text that is JSON is compared as what it says: the order of members means nothing. */
function readTexts(value) {
  if (typeof value === 'string' && /^[[{]/.test(value)) return parsed(value);
  if (Array.isArray(value)) return value.map(readTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, readTexts(inner)]));
}

function parsed(text) {
  try {
    return { json: readTexts(JSON.parse(text)) };
  } catch {
    return text;
  }
}

function withoutEra(value) {
  if (Array.isArray(value)) return value.map(withoutEra);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !OF_AN_ERA.has(key) && !ENVELOPE.test(key));
  return Object.fromEntries(
    kept
      .map(([key, inner]) => [key, withoutEra(inner)])
      .filter(([key, inner]) => key !== '_meta' || Object.keys(inner ?? {}).length > 0),
  );
}

function fits({ behaviours, cells = () => true, at }, { name }, cell, path) {
  return (
    behaviours.some((one) => (typeof one === 'string' ? one === name : one.test(name))) &&
    cells(cell) &&
    (!at || at.test(path))
  );
}
