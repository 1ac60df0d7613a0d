// Cells of clients that speak MCP Flow: every question of the server arrives as a prompt of a session, and the end of the session
// is the result of the call.
import assert from 'node:assert/strict';
import { answerTo, FORM, OTHER_FORM, PAGE, ROUNDS } from './asked.mjs';
import { readText } from './read.mjs';

const never = () => new Promise(() => {});

export const PLAY_FLOW = {
  async form(cell) {
    const { client, answers } = await play(cell, 'form', { value: 'the city' });
    assert.deepEqual(messages(client), [FORM.message]);
    const { type, validation } = client.asked[0].params;
    assert.deepEqual([type, validation], ['text', { required: true, min: 2 }]);
    assert.deepEqual(answers, { it: answerTo('elicitation/create', FORM) });
    return 'prompt';
  },
  async url(cell) {
    const { client, answers } = await play(cell, 'url', { value: true });
    assert.deepEqual(messages(client), [`${PAGE.message}\n${PAGE.url}`]);
    assert.equal(client.asked[0].params.type, 'confirm');
    assert.deepEqual(answers, { it: { action: 'accept' } });
    return 'prompt with the link';
  },
  sampling: (cell) => fail(cell, 'sampling', /sampling/i),
  'sampling with tools': (cell) => fail(cell, 'sampling with tools', /sampling/i),
  roots: (cell) => fail(cell, 'roots', /roots/i),
  async 'several at once'(cell) {
    const { client, answers } = await play(cell, 'two forms', ({ params }) => ({
      value: params.message === FORM.message ? 'the city' : 'the name',
    }));
    assert.deepEqual(messages(client).sort(), [FORM.message, OTHER_FORM.message].sort());
    assert.deepEqual(answers, {
      city: answerTo('elicitation/create', FORM),
      name: answerTo('elicitation/create', OTHER_FORM),
    });
    return 'prompts, one by one';
  },
  async 'three rounds'(cell) {
    const client = await cell.open(cell.patient, ({ params }) => ({
      value: `the ${params.message.slice(0, -1).toLowerCase()}`,
    }));
    const answers = readText(await client.call('ask_in_rounds', { kind: '', key: cell.key }));
    assert.deepEqual(
      messages(client),
      ROUNDS.map(({ message }) => message),
    );
    assert.deepEqual(
      answers,
      ROUNDS.map((form) => answerTo('elicitation/create', form)),
    );
    return 'prompts';
  },
  async decline(cell) {
    const { answers } = await play(cell, 'form', { decline: true });
    assert.deepEqual(answers, { it: { action: 'decline' } });
    return 'decline';
  },
  async cancel(cell) {
    await cancelAtThePrompt(cell);
    return calledOff(cell);
  },
  async timeout(cell) {
    const client = await cell.open(cell.patient, async () => {
      await new Promise((resolve) => setTimeout(resolve, 2 * cell.hurryMs)); // the session itself runs out
      return { value: 'the city' };
    });
    const call = client.call('ask', { kind: 'form', key: cell.key }, { timeout: cell.hurryMs });
    await assert.rejects(call, ({ code }) => code === -32002);
    await calledOff(cell);
    return 'too late: expired';
  },
  async disconnect(cell) {
    // Where there is no connection that could end, nobody comes back for the session, and it runs out.
    await leaveAtThePrompt(cell, cell.hurryMs);
    return calledOff(cell);
  },
};

export async function play(cell, kind, answer) {
  const client = await cell.open(cell.patient, typeof answer === 'function' ? answer : () => answer);
  return { client, answers: readText(await client.call('ask', { kind, key: cell.key })) };
}

export async function cancelAtThePrompt(cell) {
  const client = await cell.open(cell.patient, async () => ({ cancel: true }));
  assert.equal((await client.call('ask', { kind: 'form', key: cell.key })).cancelled, true);
}

export async function leaveAtThePrompt(cell, timeout) {
  let arrive;
  const arrived = new Promise((resolve) => (arrive = resolve));
  const client = await cell.open(cell.patient, () => {
    arrive();
    return never();
  });
  client.call('ask', { kind: 'form', key: cell.key }, { timeout }).catch(() => {});
  await arrived;
  await client.leave();
}

export function messages({ asked }) {
  return asked.map(({ params }) => params.message);
}

async function calledOff({ events, key, upstream }) {
  if (upstream.era === 'handshake') await events.until(key, 'called off');
  assert.equal(events.of(key).filter((event) => event === 'called').length, 1);
  return upstream.era === 'handshake' ? 'the call is called off' : 'not sent again';
}

async function fail(cell, kind, words) {
  const client = await cell.open(cell.patient);
  const { isError, content } = await client.call('ask', { kind, key: cell.key });
  assert.equal(isError, true);
  assert.match(content[0].text, words);
  return 'a clear error';
}
