// Clients that give answers as they came: what the server said, or the error it refused with, and the progress on the way.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { connect, createLog } from '../../harness/parley.mjs';

const INFO = { name: 'diff', version: '1.0.0' };
const PATIENCE_MS = 60_000;

const ASKABLE = { onElicit: () => ({ action: 'decline' }), elicitUrls: true };
const FORMS_AND_PAGES = { elicitation: { form: {}, url: {} } };

/**
 * `isBridged`: the client and the server behind the gateway speak different eras. `openAskable`: the same client, if it could
 * be asked; absent where it can.
 */
export const CLIENTS = [
  { name: 'SDK v1', open: (way) => openV1(way, {}), openAskable: (way) => openV1(way, FORMS_AND_PAGES) },
  {
    name: 'SDK v1, can be asked',
    open: (way) => openV1(way, { elicitation: { form: {} }, sampling: {}, roots: { listChanged: true } }),
  },
  {
    name: 'Parley, 2025-11-25',
    open: (way) => openParley(way, { revision: '2025-11-25' }),
    openAskable: (way) => openParley(way, { revision: '2025-11-25', ...ASKABLE }),
  },
  {
    name: 'Parley, newest',
    isBridged: true,
    open: (way) => openParley(way, {}),
    openAskable: (way) => openParley(way, ASKABLE),
  },
];

async function openV1({ url, command, args, env }, capabilities) {
  const client = new Client(INFO, { capabilities });
  if (capabilities.roots) client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots: [] }));
  const link = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args, env, stderr: 'ignore' });
  await client.connect(link);
  const follow = followProgress(link);
  return {
    hello: {
      info: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    },
    async ask(method, params, onProgress) {
      const options = { timeout: PATIENCE_MS, ...(onProgress && { onprogress: () => {} }) };
      follow(onProgress);
      return client.request({ method, params }, types.ResultSchema, options);
    },
    async close() {
      if (url) await link.terminateSession();
      await client.close();
    },
  };
}

/** On the wire: the client itself forgets progress that arrives together with the answer. */
function followProgress(link) {
  const own = link.onmessage;
  let follower;
  link.onmessage = (message, extra) => {
    if (message.method === 'notifications/progress') {
      const { progressToken: _, ...step } = message.params;
      follower?.(step);
    }
    own(message, extra);
  };
  return (onProgress) => (follower = onProgress);
}

async function openParley({ url, command, args, env }, options) {
  const log = createLog({ level: 'silent' });
  const client = await connect(url ?? { command, args, env }, { ...INFO, ...options, log, probeMs: PATIENCE_MS });
  const { info, capabilities, instructions } = client.server;
  return {
    hello: { info, capabilities, instructions },
    ask: (method, params, onProgress) => client.request(method, params, onProgress && { onProgress }),
    close: () => client.close(),
  };
}

/** Everything one client is told by one server. */
export async function interview(open, way, calls) {
  const client = await open(way);
  try {
    const answers = [];
    for (const { method, params, meta, progress } of calls) {
      const told = [];
      const asked = meta ? { ...params, _meta: meta } : params;
      const answer = await client.ask(method, asked, progress && ((step) => told.push(step))).then(
        (result) => ({ result }),
        ({ code, message, data }) => ({ error: { code, message, ...(data !== undefined && { data }) } }),
      );
      answers.push({ ...answer, ...(progress && { progress: told }) });
    }
    return { hello: client.hello, answers };
  } finally {
    await client.close();
  }
}
