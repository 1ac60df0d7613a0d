// The servers with the behaviours on a loopback port: `{ url, close }`. Bodies are recorded before a server sees them.
import { createSessions, listen } from '../../servers/sessions.mjs';
import { createRecord } from './record.mjs';

export const SERVE_HTTP = {
  async v1(file) {
    const [{ createV1Behaviours }, { StreamableHTTPServerTransport }] = await Promise.all([
      import('./server-v1.mjs'),
      import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
    ]);
    const record = createRecord(file);
    const sessions = createSessions(
      () => createV1Behaviours(record),
      (options) => new StreamableHTTPServerTransport(options),
    );
    return listen(sessions, { onBody: (message) => record({ message }) });
  },

  /** Sessions for the handshake, and beside them the handler of SDK v2 for requests that stand alone. */
  async v2(file) {
    const [{ createV2Behaviours }, { createMcpHandler, isLegacyRequest }, node] = await Promise.all([
      import('./server-v2.mjs'),
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/node'),
    ]);
    const record = createRecord(file);
    const modern = createMcpHandler(() => createV2Behaviours(record, { notifier: notifierOf(() => modern) }), {
      legacy: 'reject',
    });
    const serveModern = node.toNodeHandler(modern);
    const serveLegacy = createSessions(
      () => createV2Behaviours(record),
      (options) => new node.NodeStreamableHTTPServerTransport(options),
    );
    const host = await listen(
      async (request, response, body) => {
        const isLegacy = await isLegacyRequest(await node.toWebRequest(request, body), body);
        return (isLegacy ? serveLegacy : serveModern)(request, response, body);
      },
      { onBody: (message) => record({ message }) },
    );
    return {
      ...host,
      async close() {
        await modern.close();
        await host.close();
      },
    };
  },
};

/** A server of one request cannot push: the handler tells those that listen. */
function notifierOf(handler) {
  const tell = {
    'notifications/resources/updated': ({ uri }) => handler().notify.resourceUpdated(uri),
    'notifications/tools/list_changed': () => handler().notify.toolsChanged(),
    'notifications/prompts/list_changed': () => handler().notify.promptsChanged(),
    'notifications/resources/list_changed': () => handler().notify.resourcesChanged(),
  };
  return async (method, params) => {
    await tell[method]?.(params);
  };
}
