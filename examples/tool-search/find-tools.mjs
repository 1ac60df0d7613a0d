// Shows one tool, `find_tools`, instead of hundreds. What a client has found is listed for it from then on.
import { respond } from 'mcp-parley';

const FIND = {
  name: 'find_tools',
  description:
    'Finds tools by words in their names and descriptions. Call it before you say that something cannot be done.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};

export function findTools() {
  const found = new Map(); // the names that each caller has found
  return {
    name: 'find-tools',
    methods: ['tools/list', 'tools/call'],
    async handle(exchange, next, lookUp) {
      const { params, method, client } = exchange;
      const known = found.get(client.principal) ?? new Set();
      if (method === 'tools/list') {
        const outcome = await next();
        const shown = outcome.result.tools.filter(({ name }) => known.has(name));
        const isFirstPage = params.cursor === undefined;
        outcome.result = { ...outcome.result, tools: isFirstPage ? [FIND, ...shown] : shown };
        return outcome;
      }
      if (params.name !== FIND.name) return next();
      const words = String(params.arguments?.query).toLowerCase().split(/\s+/);
      const tools = await listAll(lookUp);
      const fits = tools.filter((tool) =>
        words.some((word) => `${tool.name} ${tool.description}`.toLowerCase().includes(word)),
      );
      found.set(client.principal, new Set([...known, ...fits.map(({ name }) => name)]));
      exchange.notify('notifications/tools/list_changed');
      return respond({ content: [{ type: 'text', text: JSON.stringify(fits) }] });
    },
  };
}

async function listAll(lookUp) {
  const all = [];
  let cursor;
  do {
    const { tools, nextCursor } = await lookUp('tools/list', cursor === undefined ? {} : { cursor });
    all.push(...tools);
    cursor = nextCursor;
  } while (cursor !== undefined);
  return all;
}
