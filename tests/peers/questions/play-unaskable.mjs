// Cells of clients that cannot be asked: the result of the call contains the question, and `parley_answer` brings the answer; that the
// user agrees to visit an address, only the page. A question that cannot be put into words is a clear error.
import assert from 'node:assert/strict';
import { answerTo, contentFor, FORM, OTHER_FORM, PAGE, ROUNDS } from './asked.mjs';
import { readQuestion, readText } from './read.mjs';
import { visitPage } from './visit-page.mjs';

/** So many answers that do not fit, and the question is closed. */
const MAX_ATTEMPTS = 5;

export const PLAY_UNASKABLE = {
  async form(cell) {
    const { client, text, handle } = await ask(cell, 'form');
    assert.ok(text.includes(FORM.message));
    assert.match(text, /http:\/\/127\.0\.0\.1:\d+\/ask\?t=/, 'no link to the page');
    const answers = readText(await client.call('parley_answer', { handle, answer: contentFor(FORM.requestedSchema) }));
    assert.deepEqual(answers, { it: answerTo('elicitation/create', FORM) });
    return 'relay';
  },
  async url(cell) {
    const { client, text, handle } = await ask(cell, 'url');
    assert.ok(text.includes(PAGE.message) && text.includes(PAGE.url), `no link in ${text}`);
    const words = await client.call('parley_answer', { handle, answer: {} });
    assert.match(readQuestion(words).text, /only the user can give it/, 'a model has agreed for its user');
    assert.ok((await visitPage(text)).includes(PAGE.url));
    assert.deepEqual(readText(await client.call('parley_answer', { handle })), { it: { action: 'accept' } });
    return 'link in the result';
  },
  sampling: (cell) => fail(cell, 'sampling', /sampling/i),
  'sampling with tools': (cell) => fail(cell, 'sampling with tools', /sampling/i),
  roots: (cell) => fail(cell, 'roots', /roots/i),
  async 'several at once'(cell) {
    const { client, text, handle } = await ask(cell, 'two forms');
    const keys = [FORM, OTHER_FORM].map(({ message }) => {
      const found = new RegExp(`Question "([^"]+)": “${message.replace('?', '\\?')}”`).exec(text);
      assert.ok(found, `${message} is not asked in ${text}`);
      return found[1];
    });
    const answer = {
      [keys[0]]: contentFor(FORM.requestedSchema),
      [keys[1]]: contentFor(OTHER_FORM.requestedSchema),
    };
    assert.deepEqual(readText(await client.call('parley_answer', { handle, answer })), {
      city: answerTo('elicitation/create', FORM),
      name: answerTo('elicitation/create', OTHER_FORM),
    });
    return 'one round';
  },
  async 'three rounds'(cell) {
    const client = await cell.open(cell.patient);
    let result = await client.call('ask_in_rounds', { kind: '', key: cell.key });
    const handles = new Set();
    for (const form of ROUNDS) {
      const { text, handle } = readQuestion(result);
      assert.ok(text.includes(form.message), `${form.message} is not asked in ${text}`);
      handles.add(handle);
      result = await client.call('parley_answer', { handle, answer: contentFor(form.requestedSchema) });
    }
    assert.equal(handles.size, ROUNDS.length);
    assert.deepEqual(
      readText(result),
      ROUNDS.map((form) => answerTo('elicitation/create', form)),
    );
    return 'relay';
  },
  async decline(cell) {
    const { client, handle } = await ask(cell, 'form');
    assert.deepEqual(readText(await client.call('parley_answer', { handle, decline: true })), {
      it: { action: 'decline' },
    });
    return 'decline';
  },
  /** A model cannot close a question for its user; one that brings nothing but nonsense has it closed. */
  async cancel(cell) {
    const { client, handle } = await ask(cell, 'form');
    const unfit = { handle, answer: { city: '?' } };
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
      assert.match(readQuestion(await client.call('parley_answer', unfit)).text, /does not fit/);
    }
    assert.deepEqual(readText(await client.call('parley_answer', unfit)), { it: { action: 'cancel' } });
    return 'cancel';
  },
  async timeout(cell) {
    const { events, key, upstream } = cell;
    const { client, handle } = await ask(cell, 'form', cell.hurried);
    const { isError, content } = await client.call('parley_answer', { handle });
    assert.equal(isError, true);
    assert.match(content[0].text, /has expired.*may already have acted/s);
    if (upstream.era === 'handshake') await events.until(key, 'called off');
    assert.equal(events.of(key).filter((event) => event === 'called').length, 1);
    return 'too late: refused';
  },
  async disconnect(cell) {
    const { events, key, upstream } = cell;
    const { client } = await ask(cell, 'form', cell.client.era === 'stateless' ? cell.hurried : cell.patient);
    await client.leave();
    if (upstream.era === 'handshake') await events.until(key, 'called off');
    await PLAY_UNASKABLE.form({ ...cell, key: `${key}, another` });
    assert.equal(events.of(key).filter((event) => event === 'called').length, 1);
    return upstream.era === 'handshake' ? 'the call is called off' : 'not sent again';
  },
};

async function ask(cell, kind, door = cell.patient) {
  const client = await cell.open(door);
  return { client, ...readQuestion(await client.call('ask', { kind, key: cell.key })) };
}

async function fail(cell, kind, words) {
  const client = await cell.open(cell.patient);
  const told = await client.call('ask', { kind, key: cell.key }).then(
    ({ isError, content }) => {
      assert.equal(isError, true, `no error: ${content[0].text}`);
      return content[0].text;
    },
    ({ message }) => message,
  );
  assert.match(told, words);
  return 'a clear error';
}
