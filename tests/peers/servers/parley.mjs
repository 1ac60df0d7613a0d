// The reference server, written with Parley.
import { createLog, createServer } from '../harness/parley.mjs';
import { FORM, NAME, PAGE, PROMPT, QUESTION, RESOURCES, TEMPLATE, TOOLS } from './reference.mjs';
import { greeting, named, note, startingWith, text } from './reference.mjs';
import { Waits } from './waits.mjs';

const ICONS = [{ src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'] }];
const BYTES = Buffer.from('not really an image').toString('base64');
/** One of every kind of content; older revisions have not all of them. */
const KINDS = [
  {
    type: 'text',
    text: 'text',
    annotations: { audience: ['user'], priority: 1, lastModified: '2026-01-01T00:00:00Z' },
  },
  { type: 'image', data: BYTES, mimeType: 'image/png' },
  { type: 'audio', data: BYTES, mimeType: 'audio/wav' },
  { type: 'resource', resource: { uri: 'note://embedded', mimeType: 'text/plain', text: 'embedded' } },
  { type: 'resource_link', uri: 'note://linked', name: 'linked', title: 'Linked', mimeType: 'text/plain' },
];

const string = { type: 'string' };
const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties) });

export function createParleyServer({ revisions } = {}) {
  const server = createServer({
    name: NAME,
    version: '1.0.0',
    title: 'Reference',
    description: 'Offers everything',
    websiteUrl: 'https://example.com',
    icons: ICONS,
    instructions: 'For tests',
    pageSize: PAGE,
    declare: ['logging'],
    log: createLog({ level: 'error' }),
    ask: { channels: [] }, // as other servers: who cannot be asked gets an error
    ...(revisions && { revisions }),
  });
  addTools(server);
  addChanges(server);
  addAsks(server);
  addTask(server);
  for (const uri of RESOURCES) server.resource(uri, { name: uri, mimeType: 'text/plain' }, note);
  server.template(TEMPLATE, { name: 'notes', complete: { author: startingWith } }, note);
  const complete = { name: startingWith };
  server.prompt(PROMPT, { arguments: [{ name: 'name', required: true }], complete }, ({ name }) => greeting(name));
  for (const other of ['second', 'third', 'fourth']) server.prompt(other, {}, () => other);
  addKinds(server);
  return server;
}

function addTools(server) {
  const waits = new Waits();
  const tool = (name, options, handler) => server.tool(name, { description: TOOLS[name], ...options }, handler);
  tool('echo', { input: object({ text: string }) }, (args) => args.text);
  const number = { type: 'number' };
  tool('sum', { input: object({ a: number, b: number }), output: object({ sum: number }) }, ({ a, b }) => ({
    sum: a + b,
  }));
  tool('fail', {}, () => {
    throw new Error('It failed');
  });
  tool('count', { input: object({ to: number, key: string }) }, async (args, call) => {
    for (let step = 1; step <= args.to; step++) call.progress(step, args.to, `step ${step}`);
    await waits.hold(args.key);
    return 'counted';
  });
  const key = { input: object({ key: string }) };
  tool('go', key, (args) => waits.release(args.key));
  tool('wait', key, (args, call) => waits.wait(args.key, call.signal));
  tool('waiting', key, (args) => waits.started(args.key).then(() => 'yes'));
  tool('aborted', key, (args) => waits.aborted(args.key).then(() => 'yes'));
  tool('log', { input: object({ level: string, text: string }) }, (args, call) => {
    call.log(args.level, args.text, 'reference');
    return 'logged';
  });
}

function addChanges(server) {
  server.tool('touch', { description: TOOLS.touch, input: object({ uri: string }) }, ({ uri }) => {
    server.touch(uri);
    return 'touched';
  });
  let grown;
  server.tool('grow', { description: TOOLS.grow }, () => {
    if (grown) grown.remove();
    grown = grown ? undefined : server.tool('grown', { description: 'Comes and goes' }, () => 'here');
    return 'changed';
  });
}

function addKinds(server) {
  const described = { title: 'Kinds', icons: ICONS, meta: { 'example.com/note': 'kept' } };
  const annotations = { title: 'Kinds', readOnlyHint: true, openWorldHint: false };
  const output = { type: 'array', items: { type: 'string' } };
  server.tool('kinds', { ...described, description: 'Every kind of content', annotations, output }, () => ({
    content: KINDS,
    structuredContent: KINDS.map(({ type }) => type),
  }));
  server.prompt('kinds', { ...described, arguments: [{ name: 'any', title: 'Any' }] }, () =>
    KINDS.map((content) => ({ role: 'user', content })),
  );
  const options = { ...described, name: 'notes of a day', annotations: { priority: 0.5 }, mimeType: 'image/png' };
  server.template('day://{date}/{+path}', options, () => Buffer.from(BYTES, 'base64'));
}

function addAsks(server) {
  server.tool('ask_name', { description: TOOLS.ask_name }, async (_args, { ask }) => {
    return named(await ask.elicit({ message: FORM.message, schema: FORM.requestedSchema, key: 'name' }));
  });
  server.tool('ask_model', { description: TOOLS.ask_model }, async (_args, { ask }) => {
    const { content } = await ask.sample(QUESTION);
    return text(content.text);
  });
  server.tool(
    'ask_model_with_tools',
    { description: 'Lends tools to the model of the client' },
    async (_args, { ask }) => {
      const tools = [{ name: 'add', description: 'Adds', inputSchema: { type: 'object' } }];
      const { content } = await ask.sample({ ...QUESTION, tools, toolChoice: { mode: 'auto' } });
      return text(content.text);
    },
  );
  server.tool('ask_page', { description: 'Asks the user to open a page' }, async (_args, { ask }) => {
    return text((await ask.elicitUrl({ message: 'Please sign in', url: 'https://example.com/sign-in' })).action);
  });
  server.tool('ask_roots', { description: TOOLS.ask_roots }, async (_args, { ask }) => {
    return text((await ask.roots()).map(({ uri }) => uri).join(' '));
  });
  server.tool('ask_ping', { description: 'Pings the client' }, async (_args, { ask }) => {
    await ask.ping();
    return 'pong';
  });
}

function addTask(server) {
  server.tool('work', { description: 'Works for a while', task: 'required' }, async (_args, call) => {
    call.status('working on it');
    return 'worked';
  });
  server.tool('ask_in_task', { description: 'Asks while it works', task: 'required' }, async (_args, { ask }) => {
    return named(await ask.elicit({ message: FORM.message, schema: FORM.requestedSchema }));
  });
}
