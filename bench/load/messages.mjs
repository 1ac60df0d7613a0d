// What the load sends, as text around an id. Ids have seven digits, so every request of a cell has the same length.
import { hugeText, LARGE, LARGE_OPENS, SMALL } from '../texts.mjs';

const FIRST_ID = 1_000_000;
let lastId = FIRST_ID;

export const nextId = () => ++lastId;

const CLIENT_INFO = { name: 'bench', version: '1.0.0' };

export const ERAS = {
  handshake: { revision: '2025-11-25', meta: undefined },
  stateless: {
    revision: '2026-07-28',
    meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: FIRST_ID,
  method: 'initialize',
  params: { protocolVersion: ERAS.handshake.revision, capabilities: {}, clientInfo: CLIENT_INFO },
};

/** The first word of a client that has no handshake. */
export const DISCOVER = {
  jsonrpc: '2.0',
  id: FIRST_ID,
  method: 'server/discover',
  params: { _meta: ERAS.stateless.meta },
};

export const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };

const CALLS = {
  small: { tool: 'echo', arguments: { text: SMALL }, text: () => SMALL, opens: SMALL },
  large: { tool: 'blob', arguments: {}, text: () => LARGE, opens: LARGE_OPENS },
  huge: { tool: 'huge', arguments: {}, text: hugeText, opens: LARGE_OPENS },
  slow: { tool: 'slow', arguments: {}, text: () => 'slept', opens: 'slept' },
};

/** `head + id + tail` is the request; a right answer has `opens` near its start and is longer than `text`. */
export function callOf(size, era, toolName = (tool) => tool) {
  const { tool, arguments: args, text, opens } = CALLS[size];
  const name = toolName(tool);
  const rest = JSON.stringify({ method: 'tools/call', params: { name, arguments: args, _meta: ERAS[era].meta } });
  return { era, name, head: '{"jsonrpc":"2.0","id":', tail: `,${rest.slice(1)}`, text: text(), opens };
}

/** Reads one answer in full, before anything is measured: a fast wrong answer must not win. */
export function checkAnswer(message, call, id) {
  const { result } = message;
  if (message.id !== id) throw new Error(`answer to ${message.id} instead of ${id}`);
  if (result?.content?.[0]?.text !== call.text)
    throw new Error(`wrong answer: ${JSON.stringify(message).slice(0, 300)}`);
  if (call.era === 'stateless' && result.resultType !== 'complete')
    throw new Error('no resultType in a stateless result');
}
