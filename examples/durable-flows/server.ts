// Serves the flows. Their sessions are in the file, the Redis or the Postgres that FLOW_STORE names, and survive this process.
import { createServer } from 'mcp-parley';
import { createPostgresStore, createRedisStore, createSqliteStore, serveFlows } from 'mcp-parley/flow';
import { inform } from './company.ts';
import { migration } from './migration.ts';
import { questionnaire } from './questionnaire.ts';
import { runbook } from './runbook.ts';

const { FLOW_STORE: place = 'flows.db', FLOW_KEY: key = 'only for trying it out', PORT: port = '8080' } = process.env;
const store = place.startsWith('redis:')
  ? await createRedisStore({ url: place })
  : place.startsWith('postgres:')
    ? await createPostgresStore({ url: place, key })
    : await createSqliteStore({ path: place, key });
const keys = [key];

const server = createServer({
  name: 'durable-flows',
  version: '1.0.0',
  keys,
  // Recognizes a user who comes back. This example takes the name from a header; behind a login, take the one who is logged in.
  identify: ({ headers }) => String(headers['x-user'] ?? 'somebody'),
});
serveFlows(server, [migration, questionnaire, runbook], {
  store,
  keys,
  // Brings a question to somebody who has not called: here as a message of the company's, elsewhere by mail or in a chat.
  leaseMs: 1000, // what a process was doing when it died is taken over after a second
  notify: inform,
});
const { url } = await server.listen({ port: Number(port) });
console.log(url);
