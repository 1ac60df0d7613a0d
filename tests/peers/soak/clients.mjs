// Clients of the soak as official SDKs make them: they come, do one thing, and leave in some way. Each gives what went wrong that
// should not have, or nothing.
import { Client as V2Client, StreamableHTTPClientTransport as V2Http } from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as V1Http } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const TIMEOUT_MS = 60_000;
const GIVE_UP_MS = 1_000;
const CAPABILITIES = { elicitation: { form: {} } };
const answer = () => ({ action: 'accept', content: { ok: true } });

export const KINDS = ['v1', 'v2', '2026'];

/** `{ call(name, args, options), leave(), vanish() }`. */
async function open(kind, url, { canBeAsked }) {
  const capabilities = canBeAsked ? CAPABILITIES : {};
  if (kind === 'v1') {
    const client = new V1Client({ name: 'soak', version: '1' }, { capabilities });
    if (canBeAsked) client.setRequestHandler(ElicitRequestSchema, answer);
    const link = new V1Http(new URL(url));
    await client.connect(link);
    return face(client, link, (request, options) => client.request(request, CallToolResultSchema, options));
  }
  const mode = kind === '2026' ? { pin: '2026-07-28' } : 'legacy';
  const client = new V2Client({ name: 'soak', version: '1' }, { capabilities, versionNegotiation: { mode } });
  if (canBeAsked) client.setRequestHandler('elicitation/create', answer);
  const link = new V2Http(new URL(url));
  await client.connect(link);
  return face(client, link, (request, options) => client.request(request, options));
}

function face(client, link, request) {
  client.onerror = () => {};
  return {
    call: (name, args = {}, options = {}) =>
      request({ method: 'tools/call', params: { name, arguments: args } }, { timeout: TIMEOUT_MS, ...options }),
    async leave() {
      await link.terminateSession?.().catch(() => {});
      await client.close();
    },
    /** Without a word: the gateway finds out by itself. */
    vanish: () => client.close(),
  };
}

/** What a client does between coming and leaving. `server` is the name that the tools of it begin with. */
const DEEDS = {
  async call(client, server) {
    for (let number = 0; number < 3; number++) {
      const words = `call ${number}`;
      const { content } = await client.call(`${server}__echo`, { words });
      if (content[0].text !== words) return `asked for "${words}" and got "${content[0].text}"`;
    }
  },
  async cancel(client, server) {
    const abort = new AbortController();
    const call = client.call(`${server}__wait`, {}, { signal: abort.signal }).then(
      () => 'a cancelled call was answered',
      () => undefined,
    );
    setTimeout(() => abort.abort('enough'), 100);
    return call;
  },
  async ask(client, server) {
    const { content } = await client.call(`${server}__ask`);
    if (!content[0].text.includes('accept')) return `asked, and got ${content[0].text}`;
  },
  async flood(client, server) {
    await client.call(`${server}__flood`);
  },
  /** It fails, or it is answered: it only must not hang. */
  async die(client) {
    await client.call('rude__die').catch(() => {});
  },
  async hang(client) {
    await client.call('rude__hang', {}, { timeout: GIVE_UP_MS }).catch(() => {});
  },
  async nonsense(client) {
    await client.call('rude__nonsense').catch(() => {});
  },
};

const GENTLE = ['call', 'call', 'call', 'cancel', 'ask', 'flood'];
const RUDE = ['die', 'hang', 'nonsense'];

/** The deeds of a client are chosen by its number, so that a run can be repeated. */
export async function live(number, url) {
  const kind = KINDS[number % KINDS.length];
  const deed = number % 8 === 7 ? RUDE[(number >> 3) % RUDE.length] : GENTLE[(number * 5) % GENTLE.length];
  const server = number % 2 ? 'v1' : 'v2';
  const client = await open(kind, url, { canBeAsked: deed === 'ask' });
  try {
    const fault = await DEEDS[deed](client, server);
    return fault && `${kind} client, ${deed} at ${server}: ${fault}`;
  } finally {
    await (number % 3 === 0 ? client.leave() : client.vanish());
  }
}
