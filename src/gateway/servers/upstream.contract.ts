// The contract of all links (see link.ts). Each transport runs it against a real peer that speaks the commands of
// fixtures/peer.mjs. A link that cannot fulfil a case is exempt from it, with the reason.
import { describe, expect, test } from 'vitest';
import { isRequest } from '../../kernel/message.ts';
import type { JsonObject, Message, RequestId, RequestMessage } from '../../kernel/message.ts';
import { RawObject, fieldOf, isResultObject } from '../../kernel/raw/raw-object.ts';
import type { LinkLimits } from '../../mcp/connect/links/inbox.ts';
import type { Link, LinkEvents } from '../../mcp/connect/links/link.ts';

export interface LinkPeer extends AsyncDisposable {
  link: Link;
}

interface LinkContract {
  name: string;
  connect: (limits?: LinkLimits) => Promise<LinkPeer>;
  exempt?: { [title in 'oversize' | 'peer dies' | 'not JSON' | 'flood']?: string };
}

export function describeLink({ name, connect, exempt = {} }: LinkContract): void {
  describe(`${name} keeps the contract of a link`, () => {
    test('messages come in the order in which they were written', async () => {
      await using peer = await started(connect);
      const frames = Array.from({ length: 500 }, (_, n) => note({ n }));
      await peer.link.send(call('say', { frames }));
      await peer.told.answer('say');
      expect(peer.told.notes().map(({ n }) => n)).toEqual(frames.map((_, n) => n));
    });

    unless(exempt.flood)('a flood is read a little at a time, and nothing of it is lost', async () => {
      let flood = await readFlood(connect);
      // Time that this process does not get counts as a pause, after which another burst is read at once.
      for (let tries = 1; tries < 10 && flood.longestTurnMs > STALLED_MS; tries++) flood = await readFlood(connect);
      expect(flood.most).toBeLessThan(300);
    });

    test('requests sent at once are all answered, each with its id', async () => {
      await using peer = await started(connect);
      const ids = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? n : `s${n}`));
      await Promise.all(ids.map((id) => peer.link.send(call('echo', { id }, id))));
      for (const id of ids) expect(await peer.told.answer(id)).toMatchObject({ id, result: { id } });
    });

    unless(exempt['not JSON'])('garbage is told, and costs nothing else', async () => {
      await using peer = await started(connect);
      const frames = ['hello?', '{"jsonrpc":"1.0","method":"x"}', '[]', '{"jsonrpc":"2.0","id":{}}', note({ n: 1 })];
      await peer.link.send(call('say', { frames }));
      await peer.told.answer('say');
      expect(peer.told.garbage).toHaveLength(4);
      expect(peer.told.notes()).toEqual([{ n: 1 }]);
    });

    test('a batch is delivered item by item, without its bad ones', async () => {
      await using peer = await started(connect);
      await peer.link.send(call('say', { frames: [`[${note({ n: 1 })},42,${note({ n: 2 })}]`] }));
      await peer.told.answer('say');
      expect(peer.told.notes()).toEqual([{ n: 1 }, { n: 2 }]);
      expect(peer.told.garbage).toHaveLength(1);
    });

    unless(exempt.oversize)('a message over the limit is told, and costs nothing else', async () => {
      await using peer = await started(connect, { maxResultBytes: 64 * 1024 });
      await peer.link.send(
        call('say', { frames: [note({ n: 1 }), note({ big: 'x'.repeat(300_000) }), note({ n: 2 })] }),
      );
      await peer.told.answer('say');
      expect(peer.told.notes()).toEqual([{ n: 1 }, { n: 2 }]);
      expect(peer.told.garbage).toEqual(['message larger than 65536 bytes (limits.maxResultBytes)']);
    });

    test('a message nested too deep is reported, and affects no other', async () => {
      await using peer = await started(connect, { maxDepth: 20 });
      const deep = JSON.parse('['.repeat(50) + ']'.repeat(50)) as unknown;
      await peer.link.send(call('say', { frames: [note({ deep }), note({ n: 2 })] }));
      await peer.told.answer('say');
      expect(peer.told.notes()).toEqual([{ n: 2 }]);
      expect(peer.told.garbage).toHaveLength(1);
    });

    test('every character survives both ways', async () => {
      await using peer = await started(connect);
      const text = 'Grüße, 世界 👩‍👩‍👧 \u2028\u2029\u0085 \0 \r\n \\n "quoted" \uFEFF end';
      await peer.link.send(call('echo', { text }));
      expect(await peer.told.answer('echo')).toMatchObject({ result: { text } });
    });

    test('5 MB go both ways', async () => {
      await using peer = await started(connect);
      const text = 'ä€😀x'.repeat(500_000);
      await peer.link.send(call('echo', { text }));
      const answer = (await peer.told.answer('echo')) as { result?: unknown };
      const read = isResultObject(answer.result) ? fieldOf(answer.result, 'text') : undefined;
      // Not toEqual: a failure would print the whole text.
      expect(read === text).toBe(true);
      // A link that reads bytes leaves such an answer unparsed.
      expect(answer.result instanceof RawObject).toBe(peer.link.kind !== 'memory');
    });

    test('close twice, also at once, is one end', async () => {
      await using peer = await started(connect);
      await Promise.all([peer.link.close(), peer.link.close()]);
      await peer.link.close();
      expect(peer.told.closes).toHaveLength(1);
    });

    test('a link that was never started can be closed', async () => {
      await using peer = await connect();
      await peer.link.close();
    });

    unless(exempt['peer dies'])('a peer that dies is told once, with a reason', async () => {
      await using peer = await started(connect);
      // The answer may be lost with the process, and so may the error.
      await peer.link.send(call('die')).catch(() => undefined);
      await peer.told.until(() => peer.told.closes.length > 0, 'onClose');
      await peer.link.close();
      expect(peer.told.closes).toHaveLength(1);
      expect(peer.told.closes[0]).not.toBe('');
      await expect(peer.link.send(call('echo'))).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
    });

    test('nothing is delivered after the end', async () => {
      await using peer = await started(connect);
      await peer.link.send(call('flood'));
      await peer.told.until(() => peer.told.notes().length > 20, 'the flood');
      await peer.link.close();
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      expect(peer.told.afterClose).toBe(0);
      expect(peer.told.closes).toHaveLength(1);
    });

    test('send after close is refused', async () => {
      await using peer = await started(connect);
      await peer.link.close();
      await expect(peer.link.send(call('echo'))).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
    });
  });
}

/** An exempt case is left out, not skipped. */
function unless(reason: string | undefined): (title: string, run: () => Promise<void>) => void {
  return (title, run) => {
    if (reason === undefined) test(title, run);
  };
}

/** Records the events of a link and waits for them. */
export class RecordedEvents implements LinkEvents {
  readonly messages: { message: Message; from: RequestId | undefined }[] = [];
  readonly garbage: string[] = [];
  readonly closes: string[] = [];
  afterClose = 0;
  readonly #looks = new Set<() => void>();

  onMessage(message: Message, from?: RequestId): boolean {
    this.messages.push({ message, from });
    this.#happened();
    return !('method' in message);
  }

  onGarbage(what: string): void {
    this.garbage.push(what);
    this.#happened();
  }

  onClose(reason: string): void {
    this.closes.push(reason);
    for (const look of this.#looks) look();
  }

  until(isSo: () => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (!isSo()) return;
        clearTimeout(timer);
        this.#looks.delete(look);
        resolve();
      };
      const timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), 25_000);
      this.#looks.add(look);
      look();
    });
  }

  /** The response with this id. */
  async answer(id: RequestId): Promise<Message> {
    const find = (): Message | undefined =>
      this.messages.map(({ message }) => message).find((message) => !('method' in message) && message.id === id);
    await this.until(() => find() !== undefined, `the answer to ${id}`);
    return find()!;
  }

  notes(): JsonObject[] {
    return this.messages.flatMap(({ message }) =>
      'method' in message && !isRequest(message) ? [message.params ?? {}] : [],
    );
  }

  #happened(): void {
    if (this.closes.length > 0) this.afterClose += 1;
    for (const look of this.#looks) look();
  }
}

export async function started(
  connect: LinkContract['connect'],
  limits?: LinkLimits,
): Promise<LinkPeer & { told: RecordedEvents }> {
  const peer = await connect(limits);
  const told = new RecordedEvents();
  await peer.link.start(told);
  return { link: peer.link, told, [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose]() };
}

export function call(method: string, params: JsonObject = {}, id: RequestId = method): RequestMessage {
  return { jsonrpc: '2.0', id, method, params };
}

export function note(params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', method: 'note', params });
}

/** A promise that is resolved from outside. */
export function later<T>(): { value: Promise<T>; come: (value: T) => void } {
  let come: (value: T) => void = () => undefined;
  const value = new Promise<T>((resolve) => (come = resolve));
  return { value, come };
}

/** A turn of the event loop that takes longer was disturbed by other processes. */
const STALLED_MS = 100;

/** The most messages of a flood that were read in one turn of the event loop, in its second half. */
async function readFlood(connect: (limits?: LinkLimits) => Promise<LinkPeer>) {
  await using peer = await started(connect);
  const frames = Array.from({ length: 8000 }, (_, n) => note({ n }));
  const { told } = peer;
  await peer.link.send(call('say', { frames }));
  let [seen, most, turn, longestTurnMs] = [0, 0, performance.now(), 0];
  while (seen <= frames.length) {
    await new Promise(setImmediate);
    const [now, at] = [told.messages.length, performance.now()];
    if (seen > frames.length / 2) most = Math.max(most, now - seen);
    longestTurnMs = Math.max(longestTurnMs, at - turn);
    [seen, turn] = [now, at];
  }
  expect(told.messages.at(-1)!.message).toMatchObject({ id: 'say' });
  expect(told.notes().map(({ n }) => n)).toEqual(frames.map((_, n) => n));
  return { most, longestTurnMs };
}
