// What the raw server offers. Every entry has members that nobody knows, text in several scripts, and a number that a double cannot hold.
import { Exact } from '../json.mjs';
import { isSince } from '../revisions.mjs';

export const BIG = new Exact('12345678901234567890');
export const EXTRA = { n: BIG, one: new Exact('1.0'), text: 'grün 漢字 🙂 "\\' };
const PAGE = 2;

/** Method of a list → the name of its array and its entries in the newest words. */
const LISTS = {
  'tools/list': ['tools', ['play', 'pläy-two', 'third'].map(tool)],
  'prompts/list': ['prompts', ['greet', 'zwei', 'third'].map(prompt)],
  'resources/list': ['resources', ['one', 'zwei', 'third'].map(resource)],
  'resources/templates/list': ['resourceTemplates', ['any', 'zwei', 'third'].map(template)],
};
const SINCE = {
  title: '2025-06-18',
  outputSchema: '2025-06-18',
  _meta: '2025-06-18',
  annotations: '2025-03-26',
  icons: '2025-11-25',
};

/** One page of a list, as a server of that revision words it; undefined for other methods. */
export function pageOf({ method, params }, { revision, words, hasTasks }, server) {
  if (!LISTS[method]) return undefined;
  const [key, entries] = LISTS[method];
  const execution =
    hasTasks && key === 'tools' && words === '2025-11-25' ? { execution: { taskSupport: 'optional' } } : {};
  const worded = entries.map((entry) => ({ ...inWordsOf(entry, words), ...execution }));
  const from = Number(params?.cursor?.replace(/^page /, '') ?? 0);
  if (!Number.isInteger(from) || from >= worded.length) return { refused: { code: -32602, message: 'no such page' } };
  const next = from + PAGE;
  return {
    result: {
      [key]: worded.slice(from, next),
      ...(next < worded.length && { nextCursor: `page ${next}` }),
      [`x-${server}`]: EXTRA,
      ...(isSince(revision, '2026-07-28') && { ttlMs: 0, cacheScope: 'private' }),
    },
  };
}

function inWordsOf(entry, revision) {
  return Object.fromEntries(
    Object.entries(entry).filter(([key]) => SINCE[key] === undefined || isSince(revision, SINCE[key])),
  );
}

function tool(name) {
  const inputSchema = {
    type: 'object',
    properties: { steps: { type: 'array', items: { type: 'string' } }, n: { type: 'number', maximum: BIG } },
  };
  return { ...shared(name), name, inputSchema, annotations: { readOnlyHint: true, title: `T ${name}` } };
}

function prompt(name) {
  return { ...shared(name), name, arguments: [{ name: 'steps', description: 'what to do', required: false }] };
}

function resource(name) {
  return { ...shared(name), name, uri: `twin://${encodeURIComponent(name)}`, mimeType: 'text/plain' };
}

function template(name) {
  return { ...shared(name), name, uriTemplate: `twin://${encodeURIComponent(name)}/{rest}`, mimeType: 'text/plain' };
}

function shared(name) {
  return {
    title: `The ${name}`,
    description: `${name}: grün 漢字`,
    _meta: { 'com.example/n': BIG },
    icons: [{ src: 'https://example.com/i.png', mimeType: 'image/png' }],
    'x-entry': EXTRA,
  };
}
