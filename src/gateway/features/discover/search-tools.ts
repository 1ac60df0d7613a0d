// The tools that clients get in place of all others.

/** More would cost what the search has to save. */
export const MAX_FOUND = 10;

export const FIND_ENTRY = {
  name: 'find_tools',
  description:
    'Finds tools by what they do. Most of your tools are not listed: search before you say that something cannot be done. Returns their names, descriptions and input schemas, the best first; run one with call_tool.',
  inputSchema: {
    type: 'object',
    properties: {
      query: {
        type: 'string',
        description: 'What the tool has to do, in a few words, such as "create a GitHub issue"',
      },
      limit: { type: 'integer', minimum: 1, maximum: MAX_FOUND, description: 'How many tools to return' },
    },
    required: ['query'],
  },
  annotations: { title: 'Find tools', readOnlyHint: true, openWorldHint: false },
};

export const CALL_ENTRY = {
  name: 'call_tool',
  description: 'Runs a tool that find_tools has found.',
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Its name, exactly as find_tools returned it' },
      arguments: { type: 'object', description: 'Its arguments, as its inputSchema says' },
    },
    required: ['name'],
  },
  annotations: { title: 'Run a found tool', destructiveHint: true, openWorldHint: true },
};
