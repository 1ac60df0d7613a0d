// The SDK-made fixture as a program: `node tests/peers/conformance/serve.mjs --stdio | --port N`.
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
  toWebRequest,
} from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createSessions, listen } from '../servers/sessions.mjs';
import { createConformanceFixture } from './server.mjs';

const [how, port] = process.argv.slice(2);
if (how === '--stdio') serveStdio(() => createConformanceFixture());
else await serveHttp(Number(port));

/** Sessions for the handshake, and beside them the SDK's handler for requests that stand alone. */
async function serveHttp(number) {
  const changes = { tools: () => modern.notify.toolsChanged(), prompts: () => modern.notify.promptsChanged() };
  const modern = createMcpHandler(() => createConformanceFixture({ changes }), { legacy: 'reject' });
  const serveModern = toNodeHandler(modern);
  const serveLegacy = createSessions(
    () => createConformanceFixture(),
    (options) => new NodeStreamableHTTPServerTransport(options),
  );
  const [isHost, isOrigin] = [localhostHostValidation(), localhostOriginValidation()];
  await listen(
    async (request, response, body) => {
      if (!isHost(request, response) || !isOrigin(request, response)) return;
      const isLegacy = await isLegacyRequest(await toWebRequest(request, body), body);
      await (isLegacy ? serveLegacy : serveModern)(request, response, body);
    },
    { port: number },
  );
}
