// Official clients that fill in forms and open pages, for tests outside of this folder: those cannot import the SDKs themselves.
import { Client as V2Client, StreamableHTTPClientTransport as V2Http } from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as V1Http } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';

const INFO = { name: 'filling', version: '1.0.0' };
const CAPABILITIES = { elicitation: { form: {}, url: {} } };
/** Others have a part in some flows, and servers are killed meanwhile. */
const PATIENCE_MS = 600_000;

/** `kind`: 'sdk-v1', 'sdk-v2' (with a handshake) or 'sdk-v2-rounds' (2026-07-28). `onElicit` gets the params, and gives the result. */
export async function openFilling(kind, { url, headers, onElicit }) {
  const options = { requestInit: { headers } };
  const elicit = ({ params }) => onElicit(params);
  if (kind === 'sdk-v1') {
    const client = new V1Client(INFO, { capabilities: CAPABILITIES });
    client.setRequestHandler(types.ElicitRequestSchema, elicit);
    await client.connect(new V1Http(new URL(url), options));
    return {
      callTool: (name, args, how) => client.callTool(toCall(name, args, how), undefined, { timeout: PATIENCE_MS }),
      close: () => client.close(),
    };
  }
  const mode = kind === 'sdk-v2' ? 'legacy' : { pin: '2026-07-28' };
  const client = new V2Client(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', elicit);
  await client.connect(new V2Http(new URL(url), options));
  return {
    callTool: (name, args, how) => client.callTool(toCall(name, args, how), { timeout: PATIENCE_MS }),
    close: () => client.close(),
  };
}

/** A call with a start id can be repeated with it. */
function toCall(name, args, { startId } = {}) {
  return { name, arguments: args, ...(startId !== undefined && { _meta: { 'mcp-parley/start-id': startId } }) };
}
