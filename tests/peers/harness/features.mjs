// What is exercised in every cell, in this order. A feature says what it needs; what a cell does not have is skipped, and
// what fails names itself. The server's side of each stands in ../servers/reference.mjs.
import { deepEqual, equal, fail, ok } from 'node:assert/strict';
import { NAME, NAMES, PROMPT, RESOURCES, TEMPLATE, TOOLS } from '../servers/reference.mjs';
import { ROOTS } from '../clients/answers.mjs';
import { within } from './seen.mjs';

const textOf = ({ content }) => content.map(({ text }) => text).join('');
const [WATCHED] = RESOURCES;
let nextKey = 0;

/** `since`, `until`: revisions of the handshake era; `stateless: false` and `draft: true` speak for the other dialects. */
export const FEATURES = [
  { name: 'handshake', draft: true, run: agrees },
  { name: 'ping', run: ({ client }) => client.ping(), stateless: false },
  { name: 'tools/list', draft: true, run: listsTools },
  { name: 'resources/list', draft: true, run: listsResources },
  { name: 'resources/templates/list', run: listsTemplates },
  { name: 'prompts/list', run: listsPrompts },
  { name: 'tools/call', draft: true, run: calls },
  { name: 'structured output', draft: true, run: structured },
  { name: 'content of every kind', run: showsKinds, servers: ['parley'] },
  { name: 'isError', draft: true, run: failsAsResult },
  { name: 'unknown tool', draft: true, run: unknownTool },
  { name: 'progress', draft: true, run: reportsProgress },
  { name: 'cancellation', draft: true, run: callsOff },
  { name: 'logging', run: logs },
  { name: 'resources/read', run: reads },
  { name: 'resources/subscribe', draft: true, run: subscribes },
  { name: 'list_changed', draft: true, run: tellsOfChangedTools },
  { name: 'prompts/get', run: getsPrompt },
  { name: 'completion', run: completes },
  { name: 'elicitation', since: '2025-06-18', run: elicits },
  { name: 'elicitation by link', since: '2025-11-25', run: elicitsByLink, servers: ['parley'] },
  { name: 'sampling', run: samples },
  { name: 'sampling with tools', since: '2025-11-25', run: samplesWithTools, servers: ['parley'] },
  { name: 'roots', run: listsRoots },
  { name: 'ping to the client', stateless: false, run: pingsBack, servers: ['parley'] },
  { name: 'tasks', since: '2025-11-25', run: runsTask, clients: ['parley', 'v1'], servers: ['parley', 'v1'] },
  { name: 'elicitation in a task', since: '2025-11-25', run: asksInTask, clients: ['parley'], servers: ['parley'] },
];

async function agrees({ client, cell }) {
  equal(client.revision, cell.revision, 'the revision agreed on');
  equal(client.serverName, NAME, 'the name of the server');
  if (cell.revision !== 'draft') equal(client.instructions, 'For tests', 'the instructions');
}

async function listsTools({ client }) {
  const names = (await client.tools()).map(({ name }) => name);
  for (const name of Object.keys(TOOLS)) ok(names.includes(name), `${name} is not in the list: ${names.join(', ')}`);
}

async function listsResources({ client, cell }) {
  const resources = await client.resources();
  const key = cell.revision === 'draft' && resources[0]?.uri === undefined ? 'name' : 'uri';
  deepEqual(
    resources.map((resource) => resource[key]),
    RESOURCES,
  );
}

async function listsTemplates({ client }) {
  equal((await client.templates())[0].uriTemplate, TEMPLATE);
}

async function listsPrompts({ client }) {
  const [first] = await client.prompts();
  deepEqual([first.name, first.arguments.map(({ name }) => name)], [PROMPT, ['name']]);
}

async function calls({ client, cell }) {
  const result = await client.call('echo', { text: 'Grüße 👋' });
  if (cell.revision === 'draft') deepEqual(result.structuredContent, { text: 'Grüße 👋' });
  else deepEqual(result.content, [{ type: 'text', text: 'Grüße 👋' }]);
}

/** Older revisions have no structured part; the text carries it. */
async function structured({ client, cell }) {
  const result = await client.call('sum', { a: 2, b: 3 });
  deepEqual(JSON.parse(textOf(result)), { sum: 5 });
  const older = cell.revision < '2025-06-18' && cell.server === 'parley';
  deepEqual(result.structuredContent, older ? undefined : { sum: 5 });
}

/** What a revision has no word for is told in another; whether the words are right is for the schemas to say. */
async function showsKinds({ client }) {
  const { content } = await client.call('kinds', {});
  ok(content.length >= 5, `5 blocks became ${content.length}`);
  const { messages } = await client.prompt('kinds', {});
  equal(messages.length, 5);
  const [{ uri, blob }] = (await client.read('day://monday/a/b')).contents;
  deepEqual([uri, blob], ['day://monday/a/b', Buffer.from('not really an image').toString('base64')]);
}

async function failsAsResult({ client }) {
  const result = await client.call('fail', {});
  ok(result.isError, 'the result is not marked as an error');
  ok(textOf(result).includes('It failed'), `the text says ${textOf(result)}`);
}

/** The official servers answer with a result of their own making; ours with the code of the revision. */
async function unknownTool({ client, cell }) {
  let result;
  try {
    result = await client.call('no_such_tool', {});
  } catch (error) {
    const chain = cell.server === 'parley' && ['draft', '2025-03-26'].includes(cell.revision);
    return equal(error.code, chain ? -32001 : -32602, `the code of: ${error.message}`);
  }
  ok(cell.server !== 'parley' && result.isError, 'was answered with a result');
}

async function reportsProgress({ client, cell }) {
  const key = `call-${++nextKey}`;
  const steps = [];
  let told;
  const complete = new Promise((resolve) => (told = resolve));
  const onProgress = (progress) => {
    steps.push(progress.progress);
    if (progress.progress === progress.total) told();
  };
  const call = client.call('count', { to: 4, key }, { onProgress });
  await within('all progress', 5000, Promise.race([complete, call]));
  await client.call('go', { key });
  ok(textOf(await call).includes('counted'), 'the answer');
  deepEqual(steps, cell.revision === 'draft' ? [25, 50, 75, 100] : [1, 2, 3, 4]);
}

async function callsOff({ client }) {
  const key = `call-${++nextKey}`;
  const controller = new AbortController();
  const call = client.call('wait', { key }, { signal: controller.signal });
  const outcome = call.then(
    () => fail('the call was answered'),
    (error) => error,
  );
  await within('the start of the call', 5000, client.call('waiting', { key }));
  controller.abort();
  await within('the end of the call', 5000, outcome);
  await within('the abort in the handler', 5000, client.call('aborted', { key }));
}

async function logs({ client, seen }) {
  await client.setLevel('info');
  await client.call('log', { level: 'debug', text: 'not wanted' });
  await client.call('log', { level: 'warning', text: 'wanted' });
  const entry = await seen.next('log message', ({ kind, data }) => kind === 'log' && data !== 'not wanted');
  deepEqual([entry.level, entry.data], ['warning', 'wanted']);
}

async function reads({ client }) {
  const { contents } = await client.read(WATCHED);
  deepEqual(
    contents.map(({ uri, text }) => [uri, text]),
    [[WATCHED, `The note ${WATCHED}`]],
  );
  const filled = await client.read('note://by/Ada');
  equal(filled.contents[0].text, 'The note note://by/Ada');
}

async function subscribes({ client, seen, server, cell }) {
  await within('the stream of the server', 5000, server.onStream?.());
  if (cell.revision !== 'draft') await within('the subscription', 5000, client.subscribe(WATCHED));
  await client.call('touch', { uri: WATCHED });
  await seen.next('update of the resource', ({ kind, uri }) => kind === 'updated' && uri === WATCHED);
  if (cell.revision !== 'draft') await within('the end of the subscription', 5000, client.unsubscribe(WATCHED));
}

async function tellsOfChangedTools({ client, seen, server }) {
  await within('the stream of the server', 5000, server.onStream?.());
  const stop = await client.watchTools?.();
  await client.call('grow', {});
  await seen.next('notice of changed tools', ({ kind }) => kind === 'tools');
  await stop?.();
}

async function getsPrompt({ client }) {
  const { messages } = await client.prompt(PROMPT, { name: 'Ada' });
  deepEqual(messages, [{ role: 'user', content: { type: 'text', text: 'Hello, Ada' } }]);
}

async function completes({ client }) {
  const expected = NAMES.filter((name) => name.startsWith('A'));
  const ofPrompt = await client.complete({ prompt: PROMPT }, { name: 'name', value: 'A' });
  deepEqual(ofPrompt.values, expected, 'for an argument of a prompt');
  const ofTemplate = await client.complete({ template: TEMPLATE }, { name: 'author', value: 'A' });
  deepEqual(ofTemplate.values, expected, 'for a variable of a template');
}

async function elicits({ client, answers }) {
  equal(textOf(await client.call('ask_name', {})), 'Hello, Ada', 'the answer to an accepted form');
  answers.elicit = { action: 'decline' };
  equal(textOf(await client.call('ask_name', {})), 'decline', 'the answer to a declined form');
  answers.elicit = { action: 'accept', content: { name: 'Ada' } };
}

async function elicitsByLink({ client, answers }) {
  answers.elicit = { action: 'accept' };
  equal(textOf(await client.call('ask_page', {})), 'accept');
  answers.elicit = { action: 'accept', content: { name: 'Ada' } };
}

async function samplesWithTools({ client }) {
  equal(textOf(await client.call('ask_model_with_tools', {})), 'Four');
}

async function samples({ client }) {
  equal(textOf(await client.call('ask_model', {})), 'Four');
}

async function listsRoots({ client }) {
  await client.changeRoots?.();
  equal(textOf(await client.call('ask_roots', {})), ROOTS[0].uri);
}

async function pingsBack({ client }) {
  equal(textOf(await client.call('ask_ping', {})), 'pong');
}

async function runsTask({ client }) {
  const { states, result } = await within('the task', 8000, client.callAsTask('work', {}));
  ok(states.length > 0, 'the call did not become a task');
  equal(textOf(result), 'worked');
}

async function asksInTask({ client }) {
  const { states, result } = await within('the task', 8000, client.callAsTask('ask_in_task', {}));
  ok(states.length > 0, 'the call did not become a task');
  equal(textOf(result), 'Hello, Ada');
}
