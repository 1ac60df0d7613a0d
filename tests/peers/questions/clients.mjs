// The clients of the suite with one face: `open(url, answer)` → `{ asked, call(name, args, timeoutMs), leave() }`. `asked` has every
// question that reached the client; `answer(question)` gives what its user answers. `can`: whether it can be asked; `speaksFlow`: it plays tools.
import { Client as V2Client, StreamableHTTPClientTransport as V2Http } from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as V1Http } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { openFlow } from './flow-client.mjs';
import { openRaw } from './raw-client.mjs';

const INFO = { name: 'asked', version: '1.0.0' };
const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const PATIENCE_MS = 120_000;

export const CLIENTS = [
  { name: 'SDK v1', era: 'handshake', can: true, open: (url, answer) => openV1(url, ALL, answer) },
  { name: 'SDK v1 without', era: 'handshake', can: false, open: (url, answer) => openV1(url, {}, answer) },
  {
    name: 'SDK v2 stateless',
    era: 'stateless',
    can: true,
    open: (url, answer) => openV2(url, { pin: '2026-07-28' }, answer),
  },
  { name: 'SDK v2 handshake', era: 'handshake', can: true, open: (url, answer) => openV2(url, 'legacy', answer) },
  { name: 'raw', era: 'stateless', can: false, open: openRaw },
  { name: 'Flow', era: 'handshake', speaksFlow: true, open: (url, answer) => openFlow(url, '2025-11-25', answer) },
  {
    name: 'Flow stateless',
    era: 'stateless',
    speaksFlow: true,
    open: (url, answer) => openFlow(url, '2026-07-28', answer),
  },
];

async function openV1(url, capabilities, answer) {
  const client = new V1Client(INFO, { capabilities });
  const { asked, take } = recorder(answer);
  if (capabilities.elicitation) client.setRequestHandler(types.ElicitRequestSchema, take);
  if (capabilities.sampling) client.setRequestHandler(types.CreateMessageRequestSchema, take);
  if (capabilities.roots) client.setRequestHandler(types.ListRootsRequestSchema, take);
  const link = new V1Http(new URL(url));
  await client.connect(link);
  return {
    asked,
    call: (name, args, timeout = PATIENCE_MS) => client.callTool({ name, arguments: args }, undefined, { timeout }),
    async leave() {
      await link.terminateSession();
      await client.close();
    },
  };
}

async function openV2(url, mode, answer) {
  const client = new V2Client(INFO, { capabilities: ALL, versionNegotiation: { mode } });
  const { asked, take } = recorder(answer);
  for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list'])
    client.setRequestHandler(method, take);
  const link = new V2Http(new URL(url));
  await client.connect(link);
  return {
    asked,
    call: (name, args, timeout = PATIENCE_MS) => client.callTool({ name, arguments: args }, { timeout }),
    async leave() {
      if (mode === 'legacy') await link.terminateSession();
      await client.close();
    },
  };
}

function recorder(answer) {
  const asked = [];
  const take = ({ method, params }, { signal, mcpReq }) => {
    const question = { method, params, signal: signal ?? mcpReq?.signal };
    asked.push(question);
    return answer(question);
  };
  return { asked, take };
}
