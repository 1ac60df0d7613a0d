// The client of SDK v1, as a peer needs it.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { tapClientTransport, watchStream } from './tap-client.mjs';

export async function openV1({ url, command, args, env, cwd }, { info, capabilities }, hooks) {
  const client = new Client(info, { capabilities });
  client.fallbackRequestHandler = ({ method, params }, extra) =>
    hooks.answer(method, params, { progress: (step) => sendProgress(extra, params, step), signal: extra.signal });
  client.fallbackNotificationHandler = async () => {};
  const stream = watchStream();
  const link = url
    ? new StreamableHTTPClientTransport(new URL(url), { fetch: (input, init) => stream.fetch(input, init) })
    : new StdioClientTransport({ command, args, env, cwd, stderr: 'inherit' });
  await client.connect(tapClientTransport(link, hooks));
  if (url) await stream.opened;
  return {
    era: 'handshake',
    request: (request, options) => client.request(request, ResultSchema, options),
    notify: (notification) => client.notification(notification),
    async close() {
      if (url) await link.terminateSession();
      await client.close();
    },
  };
}

function sendProgress(extra, params, step) {
  const { progressToken } = params?._meta ?? {};
  return extra.sendNotification({ method: 'notifications/progress', params: { progressToken, ...step } });
}
