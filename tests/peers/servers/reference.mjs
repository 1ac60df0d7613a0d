// The features of every server of the suite, independent of its library. The features of ../harness/features.mjs depend only on
// this file.

export const NAME = 'reference';
/** Resources per page; there are more than two pages. */
export const PAGE = 3;
export const RESOURCES = Array.from({ length: 7 }, (_, index) => `note://numbered/${index + 1}`);
export const TEMPLATE = 'note://by/{author}';
export const PROMPT = 'greet';
export const NAMES = ['Ada', 'Alan', 'Grace'];

export const TOOLS = {
  echo: 'Answers with the text it is given',
  sum: 'Adds a and b, with structured output',
  fail: 'Fails',
  count: 'Reports progress up to a number, then waits to be let go',
  go: 'Lets a call go',
  wait: 'Waits until it is called off',
  waiting: 'Answers once a call waits',
  aborted: 'Answers once a waiting call has been called off',
  log: 'Logs a text',
  touch: 'Says that a resource has changed',
  grow: 'Changes the list of tools',
  ask_name: 'Asks the user for a name',
  ask_model: 'Asks the model of the client',
  ask_roots: 'Asks for the roots of the client',
};

export const note = (uri) => ({ contents: [{ uri, mimeType: 'text/plain', text: `The note ${uri}` }] });
export const text = (value) => ({ content: [{ type: 'text', text: value }] });
export const startingWith = (value) => NAMES.filter((name) => name.startsWith(value));
export const greeting = (name) => [{ role: 'user', content: { type: 'text', text: `Hello, ${name}` } }];

export const FORM = {
  message: 'What is your name?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};
export const QUESTION = {
  messages: [{ role: 'user', content: { type: 'text', text: 'What is 2+2?' } }],
  maxTokens: 10,
};
export const named = ({ action, content }) => text(action === 'accept' ? `Hello, ${content.name}` : action);

/** One page of the resources, for libraries that do not page by themselves. */
export function pageOfResources(cursor) {
  const start = cursor === undefined ? 0 : Number(cursor);
  const resources = RESOURCES.slice(start, start + PAGE).map((uri) => ({ uri, name: uri }));
  const next = start + PAGE;
  return { resources, ...(next < RESOURCES.length && { nextCursor: String(next) }) };
}
