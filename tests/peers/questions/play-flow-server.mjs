// Cells of a server that asks by MCP Flow: to a client that speaks it prompts come as they are; any other is asked in its own way, and
// the server gets what was answered by `interaction.respond`. Of other questions Flow has none.
import assert from 'node:assert/strict';
import { FORM, ROUNDS } from './asked.mjs';
import { cancelAtThePrompt, leaveAtThePrompt, messages, play } from './play-flow.mjs';
import { readQuestion, readText } from './read.mjs';

/** Of a client that gives up: long enough for the question to be there first. */
const CLIENT_GIVES_UP_MS = 8000;
const MAX_ATTEMPTS = 5;
const ANSWER = { answer: 'the answer' };
const never = () => new Promise(() => {});
const accept = () => ({ action: 'accept', content: ANSWER });

const ASKABLE = {
  async form(cell) {
    const { client, answers } = await play(cell, 'form', accept);
    assert.deepEqual(messages(client), [FORM.message]);
    assert.equal(client.asked[0].params.requestedSchema.properties.answer.minLength, 2);
    assert.deepEqual(answers, { it: 'the answer' });
    return 'in the client';
  },
  async 'three rounds'(cell) {
    const client = await cell.open(cell.patient, accept);
    const answers = readText(await client.call('ask_in_rounds', { kind: '', key: cell.key }));
    assert.deepEqual(messages(client), messagesOf(ROUNDS));
    assert.deepEqual(
      answers,
      ROUNDS.map(() => 'the answer'),
    );
    return 'in the client';
  },
  decline: (cell) => refuse(cell, 'decline'),
  cancel: (cell) => refuse(cell, 'cancel'),
  async timeout(cell) {
    if (cell.client.era === 'stateless') return answerTooLate(cell);
    const client = await cell.open(cell.patient, never);
    await assert.rejects(client.call('ask', { kind: 'form', key: cell.key }, CLIENT_GIVES_UP_MS), /timed out/);
    await cell.events.until(cell.key, 'called off');
    return 'the client gives up';
  },
  async disconnect(cell) {
    let arrive;
    const arrived = new Promise((resolve) => (arrive = resolve));
    const client = await cell.open(cell.client.era === 'stateless' ? cell.hurried : cell.patient, () => {
      arrive();
      return never();
    });
    client.call('ask', { kind: 'form', key: cell.key }).catch(() => {});
    await arrived;
    await client.leave();
    return cancelled(cell);
  },
};

const UNASKABLE = {
  async form(cell) {
    const { client, text, handle } = await ask(cell);
    assert.ok(text.includes(FORM.message));
    assert.match(text, /http:\/\/127\.0\.0\.1:\d+\/ask\?t=/, 'no link to the page');
    assert.deepEqual(readText(await client.call('parley_answer', { handle, answer: ANSWER })), { it: 'the answer' });
    return 'relay';
  },
  async 'three rounds'(cell) {
    const client = await cell.open(cell.patient);
    let result = await client.call('ask_in_rounds', { kind: '', key: cell.key });
    for (const { message } of ROUNDS) {
      const { text, handle } = readQuestion(result);
      assert.ok(text.includes(message), `${message} is not asked in ${text}`);
      result = await client.call('parley_answer', { handle, answer: ANSWER });
    }
    assert.deepEqual(
      readText(result),
      ROUNDS.map(() => 'the answer'),
    );
    return 'relay';
  },
  async decline(cell) {
    const { client, handle } = await ask(cell);
    assert.equal((await client.call('parley_answer', { handle, decline: true })).isError, true);
    return cancelled(cell);
  },
  async cancel(cell) {
    const { client, handle } = await ask(cell);
    let result;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      result = await client.call('parley_answer', { handle, answer: { answer: '?' } });
    }
    assert.equal(result.isError, true);
    return cancelled(cell);
  },
  async timeout(cell) {
    const { client, handle } = await ask(cell, cell.hurried);
    const { isError, content } = await client.call('parley_answer', { handle });
    assert.equal(isError, true);
    assert.match(content[0].text, /has expired.*may already have acted/s);
    await cancelled(cell);
    return 'too late: refused';
  },
  async disconnect(cell) {
    const { client } = await ask(cell, cell.client.era === 'stateless' ? cell.hurried : cell.patient);
    await client.leave();
    return cancelled(cell);
  },
};

const NATIVE = {
  async form(cell) {
    const { client, answers } = await play(cell, 'form', { value: 'the answer' });
    const validation = { required: true, min: 2 };
    assert.deepEqual(
      client.asked.map(({ params }) => params),
      [{ type: 'text', message: FORM.message, validation }],
    );
    assert.deepEqual(answers, { it: 'the answer' });
    return "the server's own prompt";
  },
  async 'three rounds'(cell) {
    const client = await cell.open(cell.patient);
    readText(await client.call('ask_in_rounds', { kind: '', key: cell.key }));
    assert.deepEqual(messages(client), messagesOf(ROUNDS));
    return "the server's own prompts";
  },
  async cancel(cell) {
    await cancelAtThePrompt(cell);
    return cancelled(cell);
  },
  async timeout(cell) {
    const client = await cell.open(cell.patient, async () => {
      await cell.events.until(cell.key, 'expired');
      return { value: 'the answer' };
    });
    const call = client.call('ask', { kind: 'form', key: cell.key }, { timeout: cell.hurryMs });
    await assert.rejects(call, ({ code }) => code === -32002);
    return 'too late: expired';
  },
  async disconnect(cell) {
    const { era } = cell.client;
    await leaveAtThePrompt(cell, era === 'stateless' ? cell.hurryMs : undefined);
    if (era !== 'stateless') return cancelled(cell);
    await cell.events.until(cell.key, 'expired');
    return 'the session expires';
  },
};

export const PLAY_FLOW_SERVER = { askable: ASKABLE, unaskable: UNASKABLE, flow: NATIVE };

async function ask(cell, door = cell.patient) {
  const client = await cell.open(door);
  return { client, ...readQuestion(await client.call('ask', { kind: 'form', key: cell.key })) };
}

async function refuse(cell, action) {
  const client = await cell.open(cell.patient, () => ({ action }));
  assert.equal((await client.call('ask', { kind: 'form', key: cell.key })).isError, true);
  return cancelled(cell);
}

async function answerTooLate(cell) {
  const client = await cell.open(cell.hurried, async () => {
    await cell.events.until(cell.key, 'called off');
    return accept();
  });
  const { isError, content } = await client.call('ask', { kind: 'form', key: cell.key });
  assert.equal(isError, true);
  assert.match(content[0].text, /it expired.*may already have acted/s);
  return 'too late: refused';
}

async function cancelled({ events, key }) {
  await events.until(key, 'called off');
  assert.equal(events.of(key).filter((event) => event === 'called').length, 1);
  return 'the session is cancelled';
}

function messagesOf(forms) {
  return forms.map(({ message }) => message);
}
