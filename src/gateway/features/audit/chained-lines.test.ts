import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import { ChainedLines, WaitingBodies, hashLine } from './chained-lines.ts';

const AT = Date.UTC(2026, 10, 18, 20, 15, 1, 7);

function textOf(lines: ChainedLines): string {
  return lines.bytes.toString('utf8');
}

function waitingFor(bodies: readonly string[]): WaitingBodies {
  const waiting = new WaitingBodies();
  bodies.forEach((body, index) => waiting.add(AT + index, body));
  return waiting;
}

/** The same lines, joined as texts. */
function joined(bodies: readonly string[], { seq, prev }: { seq: number; prev: string }): string {
  return bodies
    .map((body, index) => {
      const time = new Date(AT + index).toISOString();
      const line = `{"seq":${seq + index},"prev":"${prev}","time":"${time}",${body}`;
      prev = sha256(line, 'base64url');
      return `${line}\n`;
    })
    .join('');
}

describe('lines of the audit log as bytes', () => {
  it('are the same as lines that are joined and hashed as texts, whatever characters they have and however long they are', () => {
    const bodies = [
      '"kind":"call"}',
      `"name":"é€😀"}`,
      '"name":"\ud83d"}',
      `"name":"${'n'.repeat(300_000)}"}`,
      '"x":1}',
    ];
    const lines = new ChainedLines();
    lines.begin(7, 'before');
    waitingFor(bodies).moveTo(lines);

    expect(textOf(lines)).toBe(Buffer.from(joined(bodies, { seq: 7, prev: 'before' })).toString('utf8'));
    expect(lines.seq).toBe(12);
    expect(lines.prev).toBe(hashLine(Buffer.from(textOf(lines).trimEnd().split('\n').at(-1)!)));
  });

  it('begin again behind the last written line when those before could not be written', () => {
    const lines = new ChainedLines();
    lines.begin(0, '');
    lines.add(AT, '"lost":true}');
    lines.begin(0, '');
    lines.add(AT, '"kept":true}');

    expect(textOf(lines)).toBe(joined(['"kept":true}'], { seq: 0, prev: '' }));
  });

  it('do not contain what waited before and was written', () => {
    const waiting = waitingFor(['"first":1}', '"second":2}']);
    const lines = new ChainedLines();
    waiting.moveTo(lines);
    waiting.add(AT, '"third":3}');
    lines.begin(2, 'p');
    waiting.moveTo(lines);

    expect(waiting.count).toBe(0);
    expect(textOf(lines)).toBe(joined(['"third":3}'], { seq: 2, prev: 'p' }));
  });
});
