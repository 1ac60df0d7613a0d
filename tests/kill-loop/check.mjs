// Checks the result of a kill loop: lists violations, and counts that show that the loop covered what it should.
import { readFileSync } from 'node:fs';
import { EVENTS, SLEEP_MS } from './flows.mjs';

/** Before the last process: acknowledged answers are in the journals of the open sessions. */
export async function checkJournals(store, said) {
  const breaches = [];
  const acks = said.filter(({ kind }) => kind === 'ack');
  const events = said.filter(({ kind }) => kind === 'event');
  const accepted = new Map();
  for (const { kind, session, key, value } of [...acks, ...events]) {
    const place = `${session} ${key}`;
    const what = kind === 'ack' ? 'answers' : 'events';
    if ((accepted.get(place) ?? value) !== value) breaches.push(`two ${what} were accepted to ${place}`);
    accepted.set(place, value);
  }
  let open = 0;
  for (const [session, mine] of grouped([...acks, ...events], ({ session }) => session)) {
    const stored = await store.load(session);
    if (!stored) breaches.push(`${session} is gone`);
    else if (stored.entries.length > 0) {
      open++;
      const taken = stored.entries.filter(({ t }) => t === 'ans' || t === 'evt');
      const kept = new Map(taken.map(({ k, v }) => [k, v]));
      for (const { key, value } of mine) if (kept.get(key) !== value) breaches.push(`${session} has lost ${key}`);
    }
  }
  return { breaches, open, acknowledged: acks.length, events: counted(events) };
}

/** When they came. */
function counted(events) {
  const counts = { early: 0, atWork: 0, atRest: 0 };
  for (const { when } of events) counts[when]++;
  return counts;
}

/** After it: every session has ended, and its effects have happened as they should, with the answers that were acknowledged. */
export async function checkEffects(store, said, effects) {
  const breaches = [];
  const figures = {
    sessions: 0,
    completed: 0,
    unknown: 0,
    repeated: 0,
    moved: 0,
    slept: 0,
    cancelled: 0,
    failed: 0,
    expired: 0,
    undone: 0,
    cleaned: 0,
  };
  const lines = readFileSync(effects, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const bySession = grouped(lines, ({ session }) => session);
  // An event that came when it had come already is kept under another key, and nobody waits for it.
  const isMeant = ({ kind, key }) => kind === 'ack' || (kind === 'event' && EVENTS.includes(key));
  const acks = grouped(said.filter(isMeant), ({ session }) => session);
  const ids = new Set([...acks.keys(), ...bySession.keys()]);
  for (const id of ids) {
    figures.sessions++;
    const stored = await store.load(id);
    const steps = grouped(bySession.get(id) ?? [], ({ step }) => step);
    const mine = acks.get(id) ?? [];
    if (new Set(mine.flatMap(({ pid }) => pid ?? [])).size > 1) figures.moved++;
    if (!stored) breaches.push(`${id} is gone`);
    else if (stored.header.tool === 'saga') {
      figures[endOf(stored.header)]++;
      breaches.push(...checkSaga(id, stored.header, steps));
      figures.undone += [...steps.keys()].filter((step) => step.startsWith('undo-')).length;
      if (steps.has('clean')) figures.cleaned++;
    } else if (stored.header.state === 'completed') {
      figures.completed++;
      breaches.push(...checkCompleted(id, stored.header.tool, steps, mine));
      if (steps.has('arrive')) figures.slept++;
    } else if (stored.header.reason === 'effect_unknown' && stored.header.tool === 'once') figures.unknown++;
    else breaches.push(`${id} (${stored.header.tool}) ended as ${stored.header.state}: ${stored.header.reason}`);
    for (const [step, tries] of steps) {
      if (tries.length > 1) figures.repeated++;
      // An idempotent sink takes the first of these and sees that the others are the same.
      const requests = new Set(tries.map(({ key, answers }) => JSON.stringify([key, answers])));
      if (requests.size > 1) breaches.push(`${id} asked for ${step} in ${requests.size} different ways`);
      if (step === 'fire' && tries.length > 1) breaches.push(`${id} fired ${tries.length} times`);
    }
  }
  const keys = grouped(lines, ({ key }) => key);
  for (const [key, tries] of keys) {
    if (new Set(tries.map(({ session, step }) => `${session} ${step.replace('undo-', '')}`)).size > 1)
      breaches.push(`${key} is used twice`);
  }
  const retried = lines.filter(({ attempt }) => attempt > 1).length;
  return { breaches, ...figures, effects: lines.length, retried };
}

function endOf({ state, reason }) {
  if (state === 'cancelled') return 'cancelled';
  return reason === 'expired' ? 'expired' : 'failed';
}

/** What was done is undone, and with the key it was done with; what is left behind is cleaned up. */
function checkSaga(id, { state, notUndone }, steps) {
  const breaches = state === 'cancelled' || state === 'error' ? [] : [`${id} (saga) ended as ${state}`];
  if (notUndone) breaches.push(`${id} gave up undoing ${notUndone}`);
  for (const step of ['reserve', 'hold']) {
    const [done, undone] = [steps.get(step)?.[0], steps.get(`undo-${step}`)?.[0]];
    if (done && !undone) breaches.push(`${id} has not undone ${step}`);
    if (undone && !done) breaches.push(`${id} has undone ${step}, which was not done`);
    if (done && undone && done.key !== undone.key) breaches.push(`${id} has undone ${step} with another key`);
    if (done && !steps.has('clean')) breaches.push(`${id} has not cleaned up`);
  }
  return breaches;
}

const EFFECTS = {
  once: ['fire'],
  order: ['pay', 'ship'],
  errand: ['leave', 'arrive'],
  parcel: ['send', 'take', 'file'],
};

function checkCompleted(id, tool, steps, acks) {
  const wanted = EFFECTS[tool];
  const missing = wanted.filter((step) => !steps.has(step)).map((step) => `${id} completed without ${step}`);
  const last = steps.get(wanted.at(-1))?.[0]?.answers ?? {};
  const lost = acks.filter(({ key, value }) => last[key] !== value).map(({ key }) => `${id} acted without ${key}`);
  const arrived = steps.get('arrive')?.[0].at;
  const slept = arrived - last.left;
  const early = slept < SLEEP_MS ? [`${id} slept only ${slept} ms`] : [];
  return [...missing, ...lost, ...early];
}

function grouped(list, by) {
  const groups = new Map();
  for (const one of list) {
    const key = by(one);
    if (groups.has(key)) groups.get(key).push(one);
    else groups.set(key, [one]);
  }
  return groups;
}
