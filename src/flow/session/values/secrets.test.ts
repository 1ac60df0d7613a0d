import { describe, expect, it } from 'vitest';
import { flow } from '../../define.ts';
import type { JournalEntry } from '../../journal.ts';
import { memoryStore } from '../../store/memory/memory.ts';
import type { FlowStore } from '../../store/store.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { Sessions } from '../sessions.ts';
import { settled } from '../turn/turn.ts';

const WORD = 'hunter2-marker';
const me = { principal: 'me' };

/** Everything that ever reaches the store, but for sealed bytes. */
function recorder(): { store: FlowStore; written: unknown[]; blobs: Buffer[] } {
  const inner = memoryStore();
  const [written, blobs]: [unknown[], Buffer[]] = [[], []];
  const store: FlowStore = Object.assign(Object.create(inner) as FlowStore, {
    durable: false,
    create: (...given: Parameters<FlowStore['create']>) => (written.push(given), inner.create(...given)),
    load: (id: string) => inner.load(id),
    commit: (...given: Parameters<FlowStore['commit']>) => (written.push(given), inner.commit(...given)),
    lease: (...given: Parameters<FlowStore['lease']>) => inner.lease(...given),
    release: (...given: Parameters<FlowStore['release']>) => inner.release(...given),
    putBlob: (name: string, bytes: Uint8Array, ttl: number) => (
      blobs.push(Buffer.from(bytes)),
      inner.putBlob(name, bytes, ttl)
    ),
    getBlob: (name: string) => inner.getBlob(name),
  });
  return { store, written, blobs };
}

let revealed = '';
const login = flow({ name: 'login' }, async (ask) => {
  const password = await ask.text('password', { secret: true, min: 8 });
  const shown = JSON.stringify(password);
  await ask.step('login', async (step) => void (revealed = await step.reveal(password)), { effect: 'retry' });
  return ask.text('next', { message: `Logged in ${shown.includes(WORD)}` });
});

describe('a secret', () => {
  it('reaches the step and nothing else', async () => {
    const { store, written, blobs } = recorder();
    const lines: string[] = [];
    const log = createLog({ level: 'debug', write: (line) => void lines.push(line) });
    const sessions = new Sessions([login], { store, log });
    const first = await sessions.start({ ...me, tool: 'login', args: { password: WORD } });
    expect(first.questions).toMatchObject([{ key: 'password', secret: true }]);
    const session = { ...me, sessionId: first.header.id };
    const wrong = await sessions.answer({ ...session, answers: [{ value: WORD.slice(0, 5) }] });
    expect(wrong.accepted).toBe(false);
    const turn = await settled(await sessions.answer({ ...session, answers: [{ value: WORD }] }));
    expect(turn.questions[0]?.prompt.message).toBe('Logged in false');
    expect(revealed).toBe(WORD);
    const view = await sessions.getState(session);
    expect(view.history).toHaveLength(1);
    for (const said of [written, view, turn, first, lines]) {
      expect(JSON.stringify(said)).not.toContain(WORD);
      expect(JSON.stringify(said)).not.toContain(WORD.slice(0, 5));
    }
    expect(blobs).toHaveLength(1);
    expect(blobs[0]?.includes(WORD)).toBe(false);
  });

  it('of one session opens in no other', async () => {
    const store = memoryStore();
    const sessions = new Sessions([login], { store });
    const start = async () => (await sessions.start({ ...me, tool: 'login' })).header.id;
    const [mine, other] = [await start(), await start()];
    await settled(await sessions.answer({ ...me, sessionId: mine, answers: [{ value: WORD }] }));
    const entries = (await store.load(mine))?.entries as Extract<JournalEntry, { t: 'ans' }>[];
    const ref = entries.find(({ t }) => t === 'ans')?.v;
    // As if somebody had put the reference into the other session's journal.
    const { header } = (await store.load(other))!;
    await store.commit(other, header.rev, {
      patch: { state: 'processing' },
      add: [{ t: 'ans', k: 'password', a: 1, ty: 'text', v: ref, src: 'human', via: 'flow', ts: 1 }],
      dueAt: 0,
    });
    revealed = '';
    await sessions.sweep();
    await expect.poll(async () => (await store.load(other))?.header.state).toBe('error');
    expect(revealed).toBe('');
  });
});

describe('a file', () => {
  const load = flow({ name: 'load' }, async (ask) => {
    const file = await ask.file('file', { accept: ['text/*', '.csv'], maxBytes: 10 });
    const text = await ask.step('read', async (step) => Buffer.from(await step.bytes(file)).toString());
    return { file, text };
  });
  const answering = async (value: unknown) => {
    const sessions = new Sessions([load]);
    const { header } = await sessions.start({ ...me, tool: 'load' });
    return settled(await sessions.answer({ ...me, sessionId: header.id, answers: [{ value }] }));
  };
  const data = Buffer.from('a,b').toString('base64');

  it('is stored outside of the journal; the body gets its name and size', async () => {
    const turn = await answering({ name: 'x.csv', mimeType: 'application/csv', data });
    expect(turn.result).toMatchObject({ file: { name: 'x.csv', mimeType: 'application/csv', size: 3 }, text: 'a,b' });
    expect(JSON.stringify(turn.result)).not.toContain(data);
  });

  it.each([
    ['too large', { name: 'x.csv', mimeType: 'text/csv', data: Buffer.alloc(11).toString('base64') }],
    ['not of the kind', { name: 'x.exe', mimeType: 'application/x', data }],
    ['no base64', { name: 'x.csv', mimeType: 'text/csv', data: '!!!!' }],
    ['the name of bytes that lie here already', { name: 'x.csv', mimeType: 'text/csv', size: 3, sha256: 'abc' }],
    ['no file', 'x.csv'],
  ])('is refused if it is %s', async (_, value) => {
    expect((await answering(value)).accepted).toBe(false);
  });
});

it('a secret is there for as long as its session may last', async () => {
  const clock = manualClock();
  const slow = flow({ name: 'slow', limits: { duration: '3h' } }, async (ask) => {
    const password = await ask.text('password', { secret: true, alone: true });
    await ask.text('later');
    return ask.step('length', async (step) => (await step.reveal(password)).length);
  });
  const sessions = new Sessions([slow], { clock });
  const { header } = await sessions.start({ ...me, tool: 'slow', timeoutMs: 10_800_000 });
  const session = { ...me, sessionId: header.id };
  await sessions.answer({ ...session, answers: [{ value: WORD }] });
  clock.move(7_200_000);
  expect(await settled(await sessions.answer({ ...session, answers: [{ value: 'now' }] }))).toMatchObject({
    result: WORD.length,
  });
  await sessions.close();
});
