// Cells of clients that can be asked: their own handler must get exactly the server's question, and the server exactly the
// handler's answer. Each returns the outcome in the words of the table.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { answerTo, AT_ONCE, FORM, ROUNDS } from './asked.mjs';
import { readText } from './read.mjs';

/** Of a client that gives up: long enough for the question to be there first. */
const CLIENT_GIVES_UP_MS = 8000;
const never = () => new Promise(() => {});

export const PLAY_ASKABLE = {
  form: (cell) => askAtOnce(cell, 'form'),
  url: (cell) => askAtOnce(cell, 'url'),
  sampling: (cell) => askAtOnce(cell, 'sampling'),
  'sampling with tools': (cell) => askAtOnce(cell, 'sampling with tools'),
  roots: (cell) => askAtOnce(cell, 'roots'),
  'several at once': (cell) => askAtOnce(cell, 'of three kinds'),
  async 'three rounds'(cell) {
    const client = await cell.open(cell.patient, ({ method, params }) => answerTo(method, params));
    const answers = readText(await client.call('ask_in_rounds', { kind: '', key: cell.key }));
    assert.deepEqual(
      client.asked.map(({ params }) => params.message),
      ROUNDS.map(({ message }) => message),
    );
    assert.deepEqual(
      answers,
      ROUNDS.map((form) => answerTo('elicitation/create', form)),
    );
    return 'in the client';
  },
  decline: (cell) => refuse(cell, 'decline'),
  cancel: (cell) => refuse(cell, 'cancel'),
  timeout(cell) {
    if (cell.client.era === 'stateless') return answerTooLate(cell);
    return cell.upstream.era === 'handshake' ? serverGivesUp(cell) : clientGivesUp(cell);
  },
  disconnect: (cell) => disconnect(cell),
};

async function askAtOnce(cell, kind) {
  const client = await cell.open(cell.patient, ({ method, params }) => answerTo(method, params));
  const answers = readText(await client.call('ask', { kind, key: cell.key }));
  const questions = Object.entries(AT_ONCE[kind]);
  assert.equal(client.asked.length, questions.length);
  for (const [key, [method, params]] of questions) {
    const asked = client.asked.find((one) => one.method === method);
    assert.ok(asked, `${method} was not asked`);
    for (const [name, value] of Object.entries(params ?? {})) assert.deepEqual(asked.params[name], value, name);
    assert.deepEqual(answers[key], answerTo(method, params ?? {}), `the server got another answer to ${key}`);
  }
  return 'in the client';
}

async function refuse(cell, action) {
  const client = await cell.open(cell.patient, () => ({ action }));
  assert.deepEqual(readText(await client.call('ask', { kind: 'form', key: cell.key })), { it: { action } });
  assert.equal(client.asked.length, 1);
  return action;
}

async function serverGivesUp(cell) {
  const client = await cell.open(cell.patient, never);
  const { gaveUp } = readText(await client.call('ask_impatiently', { kind: 'form', key: cell.key }));
  assert.match(gaveUp, /timed out/);
  for (const { signal } of client.asked) await aborted(signal);
  return 'the server gives up';
}

async function clientGivesUp(cell) {
  const client = await cell.open(cell.patient, never);
  await assert.rejects(client.call('ask', { kind: 'form', key: cell.key }, CLIENT_GIVES_UP_MS), /timed out/);
  assert.equal(client.asked.length, 1);
  await aborted(client.asked[0].signal);
  assert.deepEqual(cell.events.of(cell.key), ['called']);
  return 'the client gives up';
}

/** It has been answered with the question already; what it brings afterwards must not be taken for an answer. */
async function answerTooLate(cell) {
  const { events, key, upstream } = cell;
  const client = await cell.open(cell.hurried, async () => {
    if (upstream.era === 'handshake') await events.until(key, 'called off');
    else await delay(2 * cell.hurryMs); // nothing waits anywhere: the state itself runs out
    return answerTo('elicitation/create', FORM);
  });
  const call = client.call('ask', { kind: 'form', key });
  if (upstream.era === 'stateless') await assert.rejects(call, /requestState/);
  else {
    const { isError, content } = await call;
    assert.equal(isError, true);
    assert.match(content[0].text, /it expired.*may already have acted/s);
  }
  assert.equal(client.asked.length, 1);
  assert.equal(events.of(key).filter((event) => event === 'called').length, 1);
  return 'too late: refused';
}

async function disconnect(cell) {
  const { events, key, client: kind, upstream } = cell;
  let arrive;
  const arrived = new Promise((resolve) => (arrive = resolve));
  const client = await cell.open(kind.era === 'stateless' ? cell.hurried : cell.patient, () => {
    arrive();
    return never();
  });
  client.call('ask', { kind: 'form', key }).catch(() => {});
  await arrived;
  await client.leave();
  if (upstream.era === 'handshake') await events.until(key, 'called off');
  await serveAnother(cell);
  assert.equal(events.of(key).filter((event) => event === 'called').length, 1);
  return upstream.era === 'handshake' ? 'the call is called off' : 'not sent again';
}

/** The gateway goes on, and what would have been sent has had its time. */
async function serveAnother(cell) {
  const other = await cell.open(cell.patient, ({ method, params }) => answerTo(method, params));
  const answers = readText(await other.call('ask', { kind: 'form', key: `${cell.key}, another` }));
  assert.deepEqual(answers, { it: answerTo('elicitation/create', FORM) });
}

function aborted(signal) {
  return new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', resolve)));
}
