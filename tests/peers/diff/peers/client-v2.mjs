// The client of SDK v2, as a peer needs it: in the handshake era, or pinned to 2026-07-28.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { tapClientTransport, watchStream } from './tap-client.mjs';

const ANYTHING = z.looseObject({});
const MODES = { handshake: 'legacy', stateless: { pin: '2026-07-28' } };

export async function openV2({ url, command, args, env, cwd }, { info, capabilities, era }, hooks) {
  const client = new Client(info, { capabilities, versionNegotiation: { mode: MODES[era] } });
  const answer = ({ method, params }, { mcpReq }) =>
    hooks.answer(method, params, { progress: (step) => sendProgress(mcpReq, params, step), signal: mcpReq.signal });
  if (capabilities.elicitation) client.setRequestHandler('elicitation/create', answer);
  if (capabilities.sampling) client.setRequestHandler('sampling/createMessage', answer);
  if (capabilities.roots) client.setRequestHandler('roots/list', answer);
  client.fallbackRequestHandler = answer;
  client.fallbackNotificationHandler = async () => {};
  const stream = watchStream();
  const link = url
    ? new StreamableHTTPClientTransport(new URL(url), { fetch: (input, init) => stream.fetch(input, init) })
    : new StdioClientTransport({ command, args, env, cwd, stderr: 'inherit' });
  await client.connect(tapClientTransport(link, hooks));
  if (url && era === 'handshake') await stream.opened;
  return {
    client,
    era,
    request: (request, options) => client.request(request, ANYTHING, options),
    notify: (notification) => client.notification(notification),
    listen: (filter) => client.listen(filter),
    async close() {
      if (url && era === 'handshake') await link.terminateSession();
      await client.close();
    },
  };
}

function sendProgress(mcpReq, params, step) {
  const { progressToken } = params?._meta ?? mcpReq._meta ?? {};
  return mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...step } });
}
