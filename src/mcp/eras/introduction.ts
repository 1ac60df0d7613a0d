// What a client says about itself when it opens a connection, and how much of it is kept.
import type { Implementation } from '@modelcontextprotocol/client';
import type { ClientView } from '../../kernel/exchange.ts';
import { roughBytes, readOptionalObject, toInvalid } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { forwardedMeta } from './meta.ts';

/**
 * The client's info and the fields that the protocol does not define. A server with a dedicated connection gets the same.
 */
export function readIntroduction(params: JsonObject): Pick<ClientView, 'info' | 'greeting'> {
  const { protocolVersion: _version, capabilities: _can, clientInfo: _who, _meta, ...rest } = params;
  const meta = forwardedMeta(_meta);
  const greeting = meta ? { ...rest, _meta: meta } : rest;
  checkIntroductionSize(greeting, 'params');
  return { info: readClientInfo(params), ...(Object.keys(greeting).length > 0 && { greeting }) };
}

export function readClientInfo(params: JsonObject): Implementation {
  const said = readOptionalObject(params, 'clientInfo') ?? {};
  checkIntroductionSize(said, 'clientInfo');
  const { name, version, ...rest } = said;
  return {
    ...rest,
    name: typeof name === 'string' ? name : 'unknown',
    version: typeof version === 'string' ? version : '0',
  };
}

/** Real clients say a few hundred bytes. */
const MAX_BYTES = 64 * 1024;

/** What a client says is kept for each client, and servers with other declarations have processes of their own. */
export function checkIntroductionSize(said: unknown, parameter: string): void {
  if (roughBytes(said, MAX_BYTES) > MAX_BYTES) throw toInvalid(parameter, `Must be at most ${MAX_BYTES} bytes`);
}
