import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import { ChainReader, WaitingLines, hashLine } from './chained-lines.ts';

const AT = Date.UTC(2026, 10, 18, 20, 15, 1, 7);
const BODIES = ['"kind":"call"}', `"name":"é€😀"}`, '"name":"\ud83d"}', `"name":"${'n'.repeat(300_000)}"}`, '"x":1}'];

function waitingFor(bodies: readonly string[], first = 0): WaitingLines {
  const waiting = new WaitingLines();
  waiting.clear(first);
  bodies.forEach((body, index) => waiting.add(AT + index, body));
  return waiting;
}

function textOf(lines: WaitingLines): string {
  return lines.bytes.toString('utf8');
}

/** The same lines as texts; the last one with the hash of those before it. */
function joined(bodies: readonly string[], { first, link }: { first: number; link: string }): string {
  const lines = bodies.map(
    (body, index) => `{"seq":${first + index},"time":"${new Date(AT + index).toISOString()}",${body}`,
  );
  const prev = sha256([link, ...lines.slice(0, -1)].join('\n'), 'base64url');
  return [...lines.slice(0, -1), `${lines.at(-1)!.slice(0, -1)},"prev":"${prev}"}`, ''].join('\n');
}

describe('lines of the audit log that wait', () => {
  it('are the same as lines that are joined and hashed as texts, whatever characters they have and however long they are', () => {
    const lines = waitingFor(BODIES, 7);
    const last = lines.seal(Buffer.from('the line before'));
    const text = Buffer.from(joined(BODIES, { first: 7, link: 'the line before' })).toString('utf8');
    expect(textOf(lines)).toBe(text);
    expect(lines.seq).toBe(12);
    expect(last.toString()).toBe(text.split('\n').at(-2));
  });

  it('have the hash of one line if there is only one before them, as in older logs', () => {
    const lines = waitingFor(['"x":1}']);
    lines.seal(Buffer.from('the line before'));
    expect(JSON.parse(textOf(lines))).toMatchObject({ seq: 0, prev: hashLine('the line before') });
    const first = waitingFor(['"x":1}']);
    first.seal(undefined);
    expect(JSON.parse(textOf(first))).toMatchObject({ prev: '' });
  });

  it('get other numbers when lines were written before them', () => {
    const lines = waitingFor(BODIES);
    lines.renumber(1000);
    expect(textOf(lines)).toBe(textOf(waitingFor(BODIES, 1000)));
    expect(lines.seq).toBe(1005);
    lines.add(AT + 5, '"more":1}');
    expect(textOf(lines)).toBe(textOf(waitingFor([...BODIES, '"more":1}'], 1000)));
  });

  it('do not contain what waited before and was written', () => {
    const lines = waitingFor(BODIES);
    lines.clear(5);
    lines.add(AT, '"kept":true}');
    expect(lines.count).toBe(1);
    expect(textOf(lines)).toBe(textOf(waitingFor(['"kept":true}'], 5)));
  });
});

describe('a reader of chained lines', () => {
  it('knows the hash that lines get when they are written', () => {
    const lines = waitingFor(BODIES);
    const last = lines.seal(Buffer.from('{"link":1}')).toString();
    const reader = new ChainReader();
    expect(reader.prev).toBe(undefined);
    reader.take('{"earlier":1}', false);
    expect(reader.hasBegun).toBe(false);
    reader.take('{"link":1}', true);
    for (const line of textOf(lines).split('\n').slice(0, -2)) reader.take(line, false);
    expect(last).toContain(`"prev":"${reader.prev}"`);
    expect(reader.prev).toBe(reader.prev);
    reader.take(last, true);
    expect(reader.prev).toBe(hashLine(last));
  });
});
