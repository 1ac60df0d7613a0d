// The external server behind the fixture `chain`: a stdio process written by hand, because it misbehaves on purpose.
// Its pages never end, and it has a tool that it does not list.
import { createInterface } from 'node:readline';

const PAGE = { nextCursor: 'optional-next-page-cursor' };
const uri = 'file:///home/user/documents/report.pdf';

const METHODS = {
  initialize: () => ({
    protocolVersion: '2025-03-26',
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: 'external', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: [
      {
        name: 'get_weather',
        description: 'Get current weather for a location',
        inputSchema: {
          type: 'object',
          properties: { location: { type: 'string', description: 'City name' } },
          required: ['location'],
        },
      },
    ],
    ...PAGE,
  }),
  'tools/call': ({ name, arguments: args }) => {
    if (name === undefined) throw { code: -32602, message: 'Invalid params' };
    if (name === 'crash') process.exit(1);
    if (name !== 'get_weather') throw { code: -32602, message: `Unknown tool: ${name}` };
    return { content: [{ type: 'text', text: `The weather in ${args.location} is 72°F and sunny.` }], isError: false };
  },
  'resources/list': () => ({
    resources: [{ uri, name: 'Monthly Report', description: 'Monthly sales report', mimeType: 'application/pdf' }],
    ...PAGE,
  }),
  'resources/read': (params) => {
    if (params.uri === undefined) throw { code: -32602, message: 'Invalid params' };
    if (params.uri !== uri) throw { code: -32002, message: 'Resource not found', data: { uri: params.uri } };
    return { contents: [{ uri, mimeType: 'application/pdf', blob: 'base64-encoded-binary-data' }] };
  },
  'prompts/list': () => ({
    prompts: [
      {
        name: 'code_review',
        description: 'Review code for best practices',
        arguments: [{ name: 'language', description: 'Programming language', required: true }],
      },
    ],
    ...PAGE,
  }),
  'prompts/get': ({ name, arguments: args }) => {
    if (name !== 'code_review') throw { code: -32602, message: `Unknown prompt: ${name}` };
    const language = args.language.charAt(0).toUpperCase() + args.language.slice(1);
    const text = `Please review this ${language} code for best practices and suggest improvements.`;
    return {
      description: `Review ${language} code for best practices`,
      messages: [{ role: 'user', content: { type: 'text', text } }],
    };
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer(method, params) }));
});

function answer(method, params) {
  if (!METHODS[method])
    return { error: { code: -32601, message: 'Method not found', data: `Unknown method: ${method}` } };
  try {
    return { result: METHODS[method](params) };
  } catch (error) {
    return { error };
  }
}
