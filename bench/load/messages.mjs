// What the load sends, as text around an id. Ids have seven digits, so every request of a cell has the same length.
import { LARGE, LARGE_OPENS, SMALL } from '../texts.mjs';

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

export const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };

/** `head + id + tail` is the request; a right answer has `opens` near its start and is longer than `text`. */
export function callOf(size, era) {
  const large = size === 'large';
  const name = large ? 'blob' : 'echo';
  const params = { name, arguments: large ? {} : { text: SMALL }, _meta: ERAS[era].meta };
  const rest = JSON.stringify({ method: 'tools/call', params });
  return {
    era,
    name,
    head: '{"jsonrpc":"2.0","id":',
    tail: `,${rest.slice(1)}`,
    text: large ? LARGE : SMALL,
    opens: large ? LARGE_OPENS : SMALL,
  };
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
