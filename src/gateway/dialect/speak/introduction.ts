// Reads what a client says about itself in its opening. A server with a dedicated connection gets the same.
import type { Implementation } from '@modelcontextprotocol/client';
import type { ClientView } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { forwardedMeta } from '../meta.ts';
import { roughBytes } from '../../../protocol/raw/rough-bytes.ts';

/** The client's info and the fields that the protocol does not define. */
export function readIntroduction(params: JsonObject): Pick<ClientView, 'info' | 'greeting'> {
  const { protocolVersion: _version, capabilities: _can, clientInfo, _meta, ...rest } = params;
  const meta = forwardedMeta(_meta);
  const greeting = meta ? { ...rest, _meta: meta } : rest;
  checkIntroductionSize(greeting, 'params');
  return { info: toInfo(clientInfo), ...(Object.keys(greeting).length > 0 && { greeting }) };
}

export function optionalObject(value: unknown, parameter: string): JsonObject {
  if (value === undefined) return {};
  if (!isObject(value)) throw new GatewayError('INVALID_PARAMS', { parameter, error: 'Must be an object' });
  return value;
}

export function toInfo(value: unknown): Implementation {
  const said = optionalObject(value, 'clientInfo');
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
  if (roughBytes(said, MAX_BYTES) <= MAX_BYTES) return;
  throw new GatewayError('INVALID_PARAMS', { parameter, error: `Must be at most ${MAX_BYTES} bytes` });
}
