import { describe, expect, it } from 'vitest';
import type { OutgoingEvent } from '../../wire/sse.ts';
import {
  FakeClock,
  FakeTarget,
  RecordingOutlet,
  fakeContext,
  request,
  settled,
} from '../../eras/fake-context.contract.ts';
import type { ServeContextOptions, EventStore, StoredEvent } from '../../eras/serve/serve-context.ts';
import type { Exchange } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { SessionStream, fromEventId } from './session-stream.ts';
import { HttpSession } from './http-session.ts';
import type { SseResponse } from '../http/sse-response.ts';

class Carrier {
  readonly events: OutgoingEvent[] = [];
  isOpen = true;

  write(event: OutgoingEvent): boolean {
    if (this.isOpen) this.events.push(event);
    return this.isOpen;
  }

  end(): void {
    this.isOpen = false;
  }

  get numbers(): unknown[] {
    return this.events.map(({ data }) =>
      data ? (JSON.parse(String(data)) as { params: { n: number } }).params.n : undefined,
    );
  }

  get lastId(): string {
    return this.events.at(-1)!.id!;
  }
}

const as = (carrier: Carrier) => carrier as unknown as SseResponse;
const note = (n: number) => ({ jsonrpc: '2.0', method: 'n', params: { n } }) as const;

function open(
  options?: ServeContextOptions,
  answer: (exchange: Exchange) => Promise<JsonObject> = () => new Promise(() => {}),
) {
  const clock = new FakeClock();
  const context = fakeContext(new FakeTarget(answer), { clock, ...options });
  const session = new HttpSession(context, { onExit: () => {} });
  const listen = async (lastEventId?: string) => {
    const carrier = new Carrier();
    await session.listen(as(carrier), lastEventId);
    return carrier;
  };
  return { session, listen, context, clock };
}

describe('a message that belongs to no request', () => {
  it('waits for the next GET, in order', async () => {
    const { session, listen } = open();
    for (const n of [1, 2]) session.send(note(n));
    const carrier = await listen();
    session.send(note(3));
    expect(carrier.numbers).toEqual([1, 2, 3]);
  });

  it('goes to the newest open GET only', async () => {
    const { session, listen } = open();
    const older = await listen();
    const newer = await listen();
    session.send(note(1));
    newer.end();
    session.send(note(2));
    older.end();
    session.send(note(3));
    expect([older.numbers, newer.numbers]).toEqual([[2], [1]]);
    expect((await listen()).numbers).toEqual([3]);
  });

  it('is queued up to a limit; the oldest is dropped and logged', async () => {
    const { session, listen, context } = open({ limits: { maxQueued: 2 } });
    for (const n of [1, 2, 3]) session.send(note(n));
    expect((await listen()).numbers).toEqual([2, 3]);
    expect(context.lines.join()).toContain('message.dropped');
  });

  it('is queued up to a size', async () => {
    const { session, listen } = open({ limits: { maxBufferedBytes: 1000 } });
    for (let n = 0; n < 100; n++) session.send({ ...note(n), params: { n, fill: 'x'.repeat(300) } });
    expect((await listen()).numbers).toEqual([98, 99]);
  });
});

describe('resumption', () => {
  it('sends exactly the missed events, once and in order, then new ones', async () => {
    const { session, listen } = open();
    const first = await listen();
    session.send(note(1));
    const id = first.lastId;
    session.send(note(2)); // written, but the client never got it
    first.end();
    session.send(note(3)); // nobody listens
    const second = await listen(id);
    session.send(note(4));
    expect(second.numbers).toEqual([2, 3, 4]);
    expect((await listen(second.lastId)).numbers).toEqual([]);
    expect(second.isOpen).toBe(false);
  });

  it('never sends events of another stream', async () => {
    const { session, listen } = open();
    const first = await listen();
    session.send(note(1));
    const second = await listen();
    session.send(note(2));
    expect([first.numbers, second.numbers]).toEqual([[1], [2]]);
    first.end();
    expect((await listen(first.lastId)).numbers).toEqual([]);
  });

  it('of a POST sends the rest of its answer and ends', async () => {
    const { session, listen } = open();
    const stream = session.openPost(null);
    const carrier = new Carrier();
    stream.carry(as(carrier));
    stream.prime(10);
    stream.release();
    const id = carrier.lastId;
    expect(carrier.events).toEqual([{ id, retry: 10, data: '' }]);
    stream.write(JSON.stringify(note(1)));
    const back = await listen(id);
    expect(back.numbers).toEqual([1]);
    stream.write(JSON.stringify(note(2)));
    stream.finish();
    expect(back.numbers).toEqual([1, 2]);
    expect(back.isOpen).toBe(false);
    const again = await listen(id);
    expect([again.numbers, again.isOpen]).toEqual([[1, 2], false]);
    expect([id, again.lastId].map((last) => session.hasNothingAfter(last))).toEqual([false, true]);
  });

  it('of a POST to an earlier process reports the lost answer', async () => {
    const earlier = open().session.openPost('call 1');
    const carrier = new Carrier();
    earlier.carry(as(carrier));
    earlier.prime();
    const { session, listen } = open();
    expect(session.hasNothingAfter(carrier.lastId)).toBe(false);
    const back = await listen(carrier.lastId);
    expect([back.events.length, back.isOpen]).toEqual([1, false]);
    expect(JSON.parse(String(back.events[0]!.data))).toMatchObject({ id: 'call 1', error: { code: -32603 } });
    expect(session.hasNothingAfter(back.lastId)).toBe(true);
  });

  it.each(['', 'x', 'g_1', 'g99_1', 'p0_1', 'g0_99999999999999999999', 'g0_-1', '__proto___1'])(
    'after %j, which is not an event of ours, is a new stream',
    async (id) => {
      const { session, listen } = open();
      session.send(note(1));
      expect((await listen(id)).numbers).toEqual([1]);
    },
  );

  it('gives the stream to the later of two clients', async () => {
    const events: StoredEvent[] = [];
    const waiting: (() => void)[] = [];
    const store: EventStore = {
      append: (event) => void events.push(event),
      after: (_, sequence) =>
        new Promise((resolve) => waiting.push(() => resolve(events.filter((event) => event.sequence > sequence)))),
    };
    const stream = new SessionStream('g0', store);
    for (const n of [1, 2]) stream.write(JSON.stringify(note(n)));
    const [early, late] = [new Carrier(), new Carrier()];
    const resumed = [
      stream.resume(as(early), { after: 0, primes: false }),
      stream.resume(as(late), { after: 0, primes: false }),
    ];
    stream.write(JSON.stringify(note(3))); // comes while both catch up
    for (let turn = 0; turn < 3; turn++) {
      for (const go of waiting.splice(0)) go();
      await settled();
    }
    stream.write(JSON.stringify(note(4)));
    expect(await Promise.all(resumed)).toEqual([false, true]);
    expect([early.numbers, late.numbers]).toEqual([[], [1, 2, 3, 4]]);
    expect(early.isOpen).toBe(false);
  });

  it('uses event ids that name the stream and position', () => {
    expect(fromEventId('p12_34')).toEqual({ stream: 'p12', sequence: 34 });
    for (const id of ['p12', '_1', 'q1_1', 'p1_x', 'p1_1 ', `p${'1'.repeat(300)}_1`])
      expect(fromEventId(id)).toBeUndefined();
  });
});

describe('a long poll', () => {
  it('is answered with the waiting messages, else with the next one, else with nothing', () => {
    const { session, clock } = open({ limits: { pollMs: 100 } });
    const got: string[][] = [];
    session.send(note(1));
    session.poll((texts) => got.push(texts));
    session.poll((texts) => got.push(texts));
    session.send(note(2));
    session.poll((texts) => got.push(texts));
    clock.advance(100);
    expect(got.map((texts) => texts.length)).toEqual([1, 1, 0]);
    expect(clock.timers).toBe(0);
  });

  it('that was cancelled takes nothing, and of two the later gets the message', () => {
    const { session } = open();
    const got: string[] = [];
    session.poll(() => got.push('gone'))();
    session.poll((texts) => got.push(`early ${texts.length}`));
    session.poll((texts) => got.push(`late ${texts.length}`));
    session.send(note(1));
    expect(got).toEqual(['early 0', 'late 1']);
  });
});

describe('the end of a session', () => {
  it('leaves no stream, poll or answer open', async () => {
    const { session, listen, clock } = open();
    session.conversation.receive(request(1, 'initialize', { protocolVersion: '2025-11-25' }), new RecordingOutlet());
    const get = await listen();
    const post = new Carrier();
    for (let n = 0; n < 100; n++) session.openPost(null).carry(as(new Carrier()));
    session.openPost(null).carry(as(post));
    const call = new RecordingOutlet();
    session.conversation.receive(request(2, 'tools/call'), call);
    const polled: string[][] = [];
    session.poll((texts) => polled.push(texts));
    expect(session.isBusy).toBe(true);
    session.end();
    expect([get.isOpen, post.isOpen, polled.length]).toEqual([false, false, 1]);
    expect(call.ends).toMatchObject([{ id: 2, error: { code: -32001, message: 'Session not found' } }]);
    expect(call.status).toBe(404);
    expect(clock.timers).toBe(0);
  });

  it('does not wait for a call whose client is gone', async () => {
    const { session } = open({}, (exchange) =>
      exchange.ask({ method: 'elicitation/create', params: { message: '?' } }),
    );
    const call = new RecordingOutlet();
    session.conversation.receive(
      request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: { elicitation: {} } }),
      new RecordingOutlet(),
    );
    session.conversation.receive({ jsonrpc: '2.0', method: 'notifications/initialized' }, new RecordingOutlet());
    const post = session.openPost(2);
    const carrier = new Carrier();
    post.carry(as(carrier));
    session.conversation.receive(request(2, 'tools/call', { name: 'ask' }), call);
    await settled();
    expect(session.isBusy).toBe(true);
    carrier.end();
    expect(session.conversation.inFlight).toBe(1);
    expect(session.isBusy).toBe(false);
  });

  it('waits only while a request or stream is open', async () => {
    const { session, listen } = open();
    expect(session.isBusy).toBe(false);
    const carrier = await listen();
    expect(session.isBusy).toBe(true);
    carrier.end();
    const stop = session.poll(() => {});
    expect(session.isBusy).toBe(true);
    stop();
    expect(session.isBusy).toBe(false);
  });
});
