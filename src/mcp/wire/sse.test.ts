import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../kernel/base/errors.ts';
import { SseReader, writeComment, writeEvent } from './sse.ts';
import type { SseEvent } from './sse.ts';
import { cpuMs } from '../../kernel/base/cpu-time.contract.ts';
import { checkAnySplit } from './any-split.contract.ts';

type Seen = (SseEvent | 'oversize' | { retryMs: number })[];

function readEvents(chunks: Iterable<Buffer>, maxBytes = 1_000_000): { seen: Seen; lastEventId: string } {
  const seen: Seen = [];
  const reader = new SseReader({
    maxBytes,
    onEvent: (event) => seen.push(event),
    onOversize: () => seen.push('oversize'),
    onRetry: (retryMs) => seen.push({ retryMs }),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return { seen, lastEventId: reader.lastEventId };
}

function expectAtEverySplit(text: string, expected: Seen, options: { maxBytes?: number; lastEventId?: string } = {}) {
  const bytes = Buffer.from(text);
  const result = { seen: expected, lastEventId: options.lastEventId ?? '' };
  for (let at = 0; at <= bytes.length; at++) {
    expect(readEvents([bytes.subarray(0, at), bytes.subarray(at)], options.maxBytes)).toStrictEqual(result);
  }
  const single = Array.from(bytes, (byte) => Buffer.from([byte]));
  expect(readEvents(single, options.maxBytes)).toStrictEqual(result);
}

describe('writeEvent', () => {
  it('writes the fields in a fixed order', () => {
    expect(writeEvent({ event: 'message', data: '{"a":1}' })).toBe('event: message\ndata: {"a":1}\n\n');
    expect(writeEvent({ event: 'x', id: 'y', retry: 5, data: 'z' })).toBe('event: x\nid: y\nretry: 5\ndata: z\n\n');
    expect(writeEvent({ id: '1', data: '' })).toBe('id: 1\ndata: \n\n');
    expect(writeEvent({ retry: 0 })).toBe('retry: 0\n\n');
  });

  it('splits data at line breaks', () => {
    expect(writeEvent({ data: 'a\nb\r\nc\rd\n' })).toBe('data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n');
  });

  it('throws rather than let a line break in a name or id start another field', () => {
    expect(() => writeEvent({ event: 'a\ndata: b' })).toThrow(GatewayError);
    expect(() => writeEvent({ id: 'a\rdata: b' })).toThrow(GatewayError);
  });

  it('writes what the reader reads', () => {
    const line = fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n\0]/.test(text));
    const event = fc.record(
      {
        event: line.filter((text) => text !== ''),
        id: line,
        retry: fc.nat(),
        data: fc.array(line, { minLength: 1 }).map((lines) => lines.join('\n')),
      },
      { requiredKeys: ['data'], noNullPrototype: true },
    );
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const text = events.map((event) => writeEvent(event) + writeComment('')).join('');
        const { seen } = readEvents([Buffer.from(text)]);
        expect(seen.filter((one) => typeof one === 'object' && 'data' in one)).toStrictEqual(events);
      }),
    );
  });
});

describe('writeComment', () => {
  it('writes lines that the reader ignores', () => {
    expect(writeComment('ping')).toBe(': ping\n\n');
    expect(writeComment('a\ndata: b')).toBe(': a\n: data: b\n\n');
    expectAtEverySplit(writeComment('a\r\ndata: b'), []);
  });
});

describe('SseReader', () => {
  it.each<[string, string, Seen]>([
    ['LF', 'data: a\n\ndata: b\n\n', [{ data: 'a' }, { data: 'b' }]],
    ['CR', 'data: a\r\rdata: b\r\r', [{ data: 'a' }, { data: 'b' }]],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', [{ data: 'a' }, { data: 'b' }]],
    ['mixed', 'data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\r', [{ data: 'a\nb\nc' }, { data: 'd' }]],
  ])('reads lines ended by %s at every split point', (_, text, events) => expectAtEverySplit(text, events));

  it('removes only one space after the colon', () => {
    expectAtEverySplit('data:a\ndata: b\ndata:  c \n\n', [{ data: 'a\nb\n c ' }]);
  });

  it('dispatches empty data, but no event without a data line', () => {
    expectAtEverySplit('data\n\ndata\ndata\n\ndata:', [{ data: '' }, { data: '\n' }]);
    expectAtEverySplit('event: x\n\n\n\nid: 4\n\ndata: a\n\n', [{ data: 'a' }], { lastEventId: '4' });
  });

  it('ignores comments and unknown fields', () => {
    expectAtEverySplit(': hi\n\n:\nfoo: bar\n: in between\ndata: a\n data: b\nDATA: c\n\n', [{ data: 'a' }]);
  });

  it('ignores one byte order mark at the start only', () => {
    expectAtEverySplit('\uFEFFdata: a\n\n', [{ data: 'a' }]);
    expectAtEverySplit('\uFEFF\uFEFFdata: a\n\n', []);
    expectAtEverySplit('\uFEFF: note\n\uFEFFdata: a\n\n', []);
  });

  it('joins a character that was split between chunks', () => {
    expectAtEverySplit('event: é\ndata: ÿ😀\n\n', [{ event: 'é', data: 'ÿ😀' }]);
  });

  it('keeps the last id until another comes, and treats an empty one as none', () => {
    expectAtEverySplit('id: 1\ndata: a\n\ndata: b\n\n', [{ id: '1', data: 'a' }, { data: 'b' }], { lastEventId: '1' });
    expectAtEverySplit('id: 1\ndata: a\n\nid\ndata: b\n\n', [
      { id: '1', data: 'a' },
      { id: '', data: 'b' },
    ]);
  });

  it('ignores an id with NUL in it', () => {
    expectAtEverySplit('id: 1\n\nid: 2\0\ndata: a\n\n', [{ data: 'a' }], { lastEventId: '1' });
  });

  it('takes the last event name, an empty one being the default', () => {
    expectAtEverySplit('event: a\nevent: b\ndata: 1\n\nevent: a\nevent:\ndata: 2\n\n', [
      { event: 'b', data: '1' },
      { data: '2' },
    ]);
  });

  it('reports a numeric retry time at once, even without data', () => {
    expectAtEverySplit('retry: 10\n', [{ retryMs: 10 }]);
    expectAtEverySplit('retry: 7\ndata: a\n\n', [{ retryMs: 7 }, { retry: 7, data: 'a' }]);
    const huge = '9'.repeat(400);
    expectAtEverySplit(`retry: -1\nretry: 1.5\nretry: 1e3\nretry:\nretry:  1\nretry: ٣\nretry: ${huge}\n\n`, []);
  });

  it('drops an incomplete event at the end of the stream, with its id', () => {
    expectAtEverySplit('id: 1\ndata: a\n\nid: 2\ndata: b\n', [{ id: '1', data: 'a' }], { lastEventId: '1' });
    expectAtEverySplit('data: a', []);
  });

  it('continues with the next stream after the end, from the last id', () => {
    const seen: SseEvent[] = [];
    const reader = new SseReader({ maxBytes: 100, onEvent: (event) => seen.push(event), onOversize: () => {} });
    reader.push(Buffer.from('id: 1\n\nid: 2\ndata: lost\r'));
    reader.end();
    reader.push(Buffer.from('\uFEFFdata: a\n\n'));
    expect(seen).toStrictEqual([{ data: 'a' }]);
    expect(reader.lastEventId).toBe('1');
  });

  it('reports an event over the limit once, skips it and reads the next', () => {
    const small = { data: 'aaaa' };
    const options = { maxBytes: 10 };
    expectAtEverySplit('data: aaaa\n\ndata: aaaaa\n\ndata: aaaa\n\n', [small, 'oversize', small], options);
    expectAtEverySplit('data:1\ndata:2\ndata:3\n: c\ndata:4\n\ndata: aaaa\n\n', ['oversize', small], options);
    expectAtEverySplit('data: aaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\ndata: aaaa\r\n\r\n', ['oversize', small], options);
    expectAtEverySplit('data: aaaaaaaaaaaaaaaaaaaaaaaaaa', ['oversize'], options);
  });

  it('counts the id of a skipped event, so that it is not sent again', () => {
    expectAtEverySplit('id: 7\ndata: aaaaaaaaaa\n\n', ['oversize'], { maxBytes: 10, lastEventId: '7' });
  });

  it('never counts comments against the limit', () => {
    const comment = `: ${'x'.repeat(50)}\n`;
    expectAtEverySplit(`${comment}data: ${comment}${comment}data: a\n\n`, ['oversize'], { maxBytes: 20 });
    expectAtEverySplit(`${comment}data: 1\n${comment}data: 2\n\n${comment}`, [{ data: '1\n2' }], { maxBytes: 20 });
  });

  it('returns the same events however the bytes are split', () => {
    const fields = ['data: ', 'data', 'id: 1', 'event: x', ':', ' '];
    const parts = ['\n', '\r', '\r\n', '\n\n', ...fields, 'é', '\uFEFF', '😀'];
    checkAnySplit({ parts, maxBytes: { min: 5, max: 60 }, read: readEvents, runs: 300 });
  });

  it('reads large events in small chunks, and many events in one chunk, in linear time', () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const large = [Buffer.from('data: '), ...Array<Buffer>(800).fill(chunk), Buffer.from('\n\n')];
    const spent = cpuMs(() => {
      expect(readEvents(large, 60_000_000).seen).toHaveLength(1);
      expect(readEvents([Buffer.from('data: 1\n\n'.repeat(100_000))]).seen).toHaveLength(100_000);
      expect(readEvents([Buffer.from(`${'data: 1\n'.repeat(100_000)}\n`)]).seen).toHaveLength(1);
    });
    // Quadratic copying or scanning would take minutes.
    expect(spent).toBeLessThan(5000);
  });

  it('keeps large data of one line as bytes, however it is split', () => {
    const large = `{"text":"${'ä€😀 '.repeat(2000)}"}`;
    const text = `data: ${large}\n\nid: 1\ndata:${large}\r\n\r\ndata: a\ndata: ${large}\n\nevent: ${large}\ndata: b\n\n`;
    for (const mark of ['', '\uFEFF']) {
      const bytes = Buffer.from(mark + text);
      for (const size of [1, 7, 1000, 5000, 65_536, bytes.length]) {
        const chunks: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
        const events = readEvents(chunks).seen as SseEvent[];
        const isBytes = events.map(({ data }) => typeof data !== 'string');
        expect(isBytes).toEqual([mark === '', true, false, false]); // with the mark before it, the first is a line like others
        expect(events.map(({ data }) => String(data)).join() === [large, large, `a\n${large}`, 'b'].join()).toBe(true);
        expect(events.map(({ id }) => id)).toEqual([undefined, '1', undefined, undefined]);
      }
    }
  });

  it('counts large data towards the limit', () => {
    const line = `data: ${'x'.repeat(20_000)}\n`;
    expect(readEvents([Buffer.from(`${line}\n`)], line.length - 1).seen).toHaveLength(1);
    expect(readEvents([Buffer.from(`${line}\n`)], line.length - 2).seen).toEqual(['oversize']);
    expect(readEvents([Buffer.from(`${line}${line}\n`)], 2 * line.length - 3).seen).toEqual(['oversize']);
  });
});
