// A process that starts and answers sessions at random until it is killed, or with `finish` until all have ended. It prints a line after each
// accepted answer, so every printed answer was acknowledged.
import { EVENTS, SLEEP_MS, createFlows } from './flows.mjs';
import { openStore } from './open-store.mjs';
import { isEnded, Sessions } from '../../dist/_entries/internals.js';

const { place, effects, faults, sabotage, finish } = JSON.parse(process.argv[2]);
const PRINCIPAL = 'the user';
const LOOPS = 6;
const MOST_OPEN = 40;
const DAY = 86_400_000;
/** Much longer than anything here takes, even on a slow machine. */
const STUCK_MS = 60_000;
/** Somebody else was faster, or has ended it. */
const OVERTAKEN = [
  'FLOW_INVALID_TRANSITION',
  'FLOW_SESSION_NOT_FOUND',
  'FLOW_LIMIT',
  'FLOW_ALREADY_CANCELLED',
  'FLOW_SESSION_EXPIRED',
];
const AWAITED = { kind: 'event', key: 'sent' };
const SOON_MS = 10;
/** Of sagas that nobody cancels in time. */
const SHORT_MS = 600;

const store = faulty(await openStore(place));
const flows = createFlows({ effects, fault, sabotage, onSent });
const sessions = new Sessions(flows, {
  store,
  leaseMs: finish ? 30_000 : 250,
  // Some sessions go on with the body that waits, the others are replayed.
  warm: 20,
  // But for some sagas nothing may expire or be forgotten while the loop runs, however slow the machine.
  limits: { sessionsPerPrincipal: 1000, respondsPerSecond: 1000, timeoutMs: DAY, durationMs: DAY, tombstoneMs: DAY },
});
let number = 0;
let [lastState, lastChange] = ['', Date.now()];
say('ready');
await Promise.all([...Array.from({ length: finish ? 2 : LOOPS }, loop), sweep()]);
await sessions.close();
await store.close();

async function loop() {
  for (;;) {
    const open = await sessions.list(PRINCIPAL);
    if (finish && (open.length === 0 || isStuck(open))) return;
    if (!finish && open.length < MOST_OPEN && pick(3) === 0) await start();
    const waiting = open.filter(({ state }) => state === 'waiting_user');
    // A session has questions only in `waiting_user`: a read that mixes two commits shows here.
    const mute = open.find(({ state, current }) => (state === 'waiting_user') !== current.length > 0);
    if (mute) throw new Error(`${mute.id} is ${mute.state} and asks ${mute.current.length} questions`);
    const sagas = open.filter(({ tool }) => tool === 'saga');
    if (sagas.length > 0 && pick(12) === 0) await cancel(sagas[pick(sagas.length)]);
    const parcels = open.filter(({ tool }) => tool === 'parcel');
    if (parcels.length > 0 && pick(4) === 0) await bring(parcels[pick(parcels.length)]);
    const one = waiting[pick(waiting.length || 1)];
    if (one?.tool === 'saga' && pick(10) === 0) await decline(one);
    else if (one) await answer(one);
    else await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Nothing has happened for a long time: the check says what has not come to its end. */
function isStuck(open) {
  const state = open.map(({ id, rev }) => `${id} ${rev}`).join();
  if (state !== lastState) [lastState, lastChange] = [state, Date.now()];
  return Date.now() - lastChange > STUCK_MS;
}

async function start() {
  const tool = ['once', 'saga', 'saga', 'order', 'order', 'errand', 'parcel', 'parcel'][pick(8)];
  const isShort = tool === 'saga' && pick(5) === 0;
  const { header } = await sessions.start({ principal: PRINCIPAL, tool, ...(isShort && { timeoutMs: SHORT_MS }) });
  say('started', { session: header.id });
}

/** At any time, also while its effects run. */
async function cancel({ id: session }) {
  try {
    await sessions.cancel({ principal: PRINCIPAL, sessionId: session });
    say('cancelled', { session });
  } catch (error) {
    if (!OVERTAKEN.includes(error.code)) throw error;
  }
}

/** The body is told that the user said no, and fails. */
async function decline({ id: session, current }) {
  const answers = [{ promptId: current[0].promptId, no: 'declined' }];
  try {
    await sessions.answer({ principal: PRINCIPAL, sessionId: session, answers });
  } catch (error) {
    if (!OVERTAKEN.includes(error.code)) throw error;
  }
}

async function answer({ id: session, current }) {
  const { promptId, key } = current[pick(current.length)];
  const value = `${key}-${process.pid}-${number++}`;
  try {
    const turn = await sessions.answer({ principal: PRINCIPAL, sessionId: session, answers: [{ promptId, value }] });
    if (turn.accepted) say('ack', { session, key, value, pid: process.pid });
  } catch (error) {
    if (!OVERTAKEN.includes(error.code)) throw error;
  }
}

/** The event that a step has brought about comes while it runs, or in the moment in which it ends. */
function onSent(id) {
  if (pick(3) > 0) setTimeout(() => void bring({ id, waits: [AWAITED], busy: true }).catch(fail), pick(SOON_MS));
}

function fail(error) {
  process.nextTick(() => {
    throw error;
  });
}

/** Something has happened: perhaps before anybody waits for it, or while a step runs. */
async function bring({ id: session, waits = [], busy }) {
  const awaited = waits.find(({ kind }) => kind === 'event')?.key;
  // At the end only what is waited for: another event would help a session on that has forgotten what it had.
  if (finish && !awaited) return;
  const event = (finish || busy ? awaited : undefined) ?? EVENTS[pick(EVENTS.length)];
  const value = `${event}-${process.pid}-${number++}`;
  const when = event !== awaited ? 'early' : busy ? 'atWork' : 'atRest';
  try {
    const delivered = await sessions.deliver({ sessionId: session, event, value });
    say('event', { session, key: delivered.event, value, when });
  } catch (error) {
    if (!OVERTAKEN.includes(error.code)) throw error;
  }
}

/** Goes on with what other processes have left. */
async function sweep() {
  for (;;) {
    await sessions.sweep();
    const open = finish ? await sessions.list(PRINCIPAL) : [];
    if (finish && (open.every(isEnded) || isStuck(open))) return;
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

/** Dies after a commit that the store has acknowledged, before anybody is told; and before one. */
function faulty(inner) {
  const commit = inner.commit.bind(inner);
  inner.commit = async (id, rev, change) => {
    fault('before-commit');
    if (sabotage === 'lose' && !finish && change.add?.length && pick(10) === 0) return { ok: true, rev: rev + 1 };
    const answered = await commit(id, rev, spoiled(change));
    fault('after-commit');
    return answered;
  };
  return inner;
}

/** Sleeps are over too early; or nothing tells that an effect has begun. */
function spoiled(change) {
  const { patch, add } = change;
  if (sabotage === 'hurry' && patch.waits) {
    const early = (at) => at && at - SLEEP_MS / 2;
    const waits = patch.waits.map((wait) => ({ ...wait, until: early(wait.until) }));
    return { ...change, dueAt: early(change.dueAt), patch: { ...patch, waits } };
  }
  if (sabotage === 'repeat' && add) return { ...change, add: add.filter(({ t }) => t !== 'int') };
  return change;
}

function fault(name) {
  if (!faults[name] || pick(faults[name]) > 0) return;
  say('fault', { name });
  process.kill(process.pid, 'SIGKILL');
  // The signal is on its way; nothing may happen until it is there.
  for (;;);
}

/** Not Math.random, which is the same in every run inside a flow. */
function pick(count) {
  return Number((process.hrtime.bigint() / 7n) % BigInt(count));
}

function say(kind, what = {}) {
  process.stdout.write(`${JSON.stringify({ kind, ...what })}\n`);
}
