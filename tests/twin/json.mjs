// JSON in which a number keeps the text it was written with: `12345678901234567890` and `1.0` are not what JSON.parse makes of them.

/** A number that a double would write otherwise. */
export class Exact {
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const LITERAL = /true|false|null/y;

export function parse(text) {
  const reader = { text, at: 0 };
  const value = readValue(reader);
  skip(reader);
  if (reader.at !== text.length) throw new SyntaxError(`not JSON at ${reader.at}: ${text.slice(0, 200)}`);
  return value;
}

export function stringify(value) {
  if (value instanceof Exact) return value.text;
  if (Array.isArray(value)) return `[${value.map((one) => stringify(one ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${members.map(([key, inner]) => `${JSON.stringify(key)}:${stringify(inner)}`).join(',')}}`;
}

/** Equal values give equal text, whatever the order of their members. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null || value instanceof Exact) return stringify(value);
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${members
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`)
    .join(',')}}`;
}

function readValue(reader) {
  skip(reader);
  const first = reader.text[reader.at];
  if (first === '{') return readObject(reader);
  if (first === '[') return readArray(reader);
  if (first === '"') return JSON.parse(take(reader, STRING));
  if (first === 't' || first === 'f' || first === 'n') return JSON.parse(take(reader, LITERAL));
  const number = take(reader, NUMBER);
  return String(Number(number)) === number ? Number(number) : new Exact(number);
}

function readObject(reader) {
  const members = [];
  reader.at++;
  while (!closes(reader, '}')) {
    skip(reader);
    const key = JSON.parse(take(reader, STRING));
    expect(reader, ':');
    members.push([key, readValue(reader)]);
  }
  return Object.fromEntries(members);
}

function readArray(reader) {
  const items = [];
  reader.at++;
  while (!closes(reader, ']')) items.push(readValue(reader));
  return items;
}

/** Takes the end, or the comma before the next one. */
function closes(reader, end) {
  skip(reader);
  const next = reader.text[reader.at];
  if (next === end || next === ',') reader.at++;
  if (next === undefined) throw new SyntaxError('JSON ends too early');
  return next === end;
}

function expect(reader, sign) {
  skip(reader);
  if (reader.text[reader.at++] !== sign) throw new SyntaxError(`no ${sign} at ${reader.at - 1}`);
}

function take(reader, pattern) {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text);
  if (!found) throw new SyntaxError(`not JSON at ${reader.at}: ${reader.text.slice(reader.at, reader.at + 40)}`);
  reader.at = pattern.lastIndex;
  return found[0];
}

function skip(reader) {
  while (' \t\r\n'.includes(reader.text[reader.at] ?? 'x')) reader.at++;
}
