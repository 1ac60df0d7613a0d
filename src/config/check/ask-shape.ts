// The configuration keys that say how users are asked, and what answers for clients that cannot ask.
import { MAX_MS } from './limits-shape.ts';
import { choice, either, integer, list, object, plain, record, text } from './shape.ts';
import type { TypeOf } from './shape.ts';

const MODEL = object(
  {
    url: text("Endpoint of OpenAI's chat completions, or of anything compatible: https://api.example.com/v1."),
    key: text('Sent as a bearer token; name a variable.'),
    headers: record(plain('Its value.'), 'Further headers.'),
    model: either(
      [list(text('A name.'), 'Names.'), text('One name.')],
      'What the endpoint calls the model; of several, servers may choose by a hint, and the first is the default.',
    ),
    maxTokens: integer('Most tokens for one answer. Default: 4096.', { min: 1 }),
    maxConcurrent: integer('Answers that one principal may wait for at once. Default: 4.', { min: 1 }),
    timeoutMs: integer('How long the model may take. Default: 120000.', { min: 1, max: MAX_MS }),
    maxBytes: integer('Of a request, and of an answer. Default: 16777216.', { min: 1 }),
  },
  'The model that answers `sampling/createMessage` for clients that have no sampling. Default: none.',
);

export const ASK = object(
  {
    channels: list(
      choice(['page', 'relay'], 'page: a page in the browser. relay: the model passes question and answer on.'),
      'How to ask users whose clients cannot ask them: on a page, or through the model. Default: both; an empty list: not at all.',
    ),
    trust: either(
      [
        list(text('stdio, key:NAME or user:NAME.', { notEmpty: true }), 'A list of clients.'),
        choice(['all'], 'all: everybody.'),
      ],
      'The clients whose forms may answer for a person, for approvals and questions that only a human may answer: "stdio", "key:NAME" (the name of a key of `parley key`), "user:NAME" (the user of a key or a login). Others answer on the page, in a browser of `parley pair`. "all" believes every client, and everyone who has a link. Default: ["stdio"].',
    ),
    model: MODEL,
  },
  'How users are asked (docs/questions.md).',
);

export const ROOTS = list(
  either(
    [
      object(
        {
          path: text('A folder, relative to this file.', { notEmpty: true }),
          uri: text('Or its URI: file:///…', { notEmpty: true }),
          name: text('What it is called.'),
        },
        'One folder.',
      ),
      text('Its path or URI.', { notEmpty: true }),
    ],
    'One folder, or just its path or URI.',
  ),
  'Folders that servers may work in, for clients that name none of their own.',
);

export type AskInput = TypeOf<typeof ASK>;
export type ModelInput = TypeOf<typeof MODEL>;
export type RootInput = TypeOf<typeof ROOTS>[number];
