// JSON-RPC 2.0 messages as plain JSON, independent of eras, and how their params are read. Ids keep their type: 1 and "1"
// are different.
import { GatewayError } from './base/errors.ts';

export type JsonObject = { [key: string]: unknown };

export type RequestId = string | number;

export interface RequestMessage {
  jsonrpc: '2.0';
  id: RequestId;
  method: string;
  params?: JsonObject;
}

export interface NotificationMessage {
  jsonrpc: '2.0';
  method: string;
  params?: JsonObject;
}

/** `result` may be any JSON, as in the draft dialect. A large object may be a RawObject. */
export interface ResultMessage {
  jsonrpc: '2.0';
  id: RequestId;
  result: unknown;
}

export interface WireError {
  code: number;
  message: string;
  data?: unknown;
}

/** `id` is null only if the request's id could not be read. */
interface ErrorMessage {
  jsonrpc: '2.0';
  id: RequestId | null;
  error: WireError;
}

export type ResponseMessage = ResultMessage | ErrorMessage;
export type Message = RequestMessage | NotificationMessage | ResponseMessage;

export function isRequest(message: Message): message is RequestMessage {
  return 'method' in message && 'id' in message;
}

export function isNotification(message: Message): message is NotificationMessage {
  return 'method' in message && !('id' in message);
}

/** Whether the params have a `_meta`; many have none, and then nothing in it has to be read. */
export function hasMeta(message: Message): boolean {
  return 'params' in message && message.params?._meta !== undefined;
}

export function isError(message: ResponseMessage): message is ErrorMessage {
  return 'error' in message;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Removes undefined fields. */
export function present(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Estimates how many bytes a parsed value has as JSON, without writing it. It stops when a maximum is passed. */
export function roughBytes(value: unknown, max: number): number {
  let bytes = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0 && bytes <= max) {
    const node = rest.pop();
    if (typeof node === 'string') bytes += node.length + 2;
    else if (typeof node !== 'object' || node === null) bytes += 4;
    else if (Array.isArray(node)) {
      bytes += 2 + node.length;
      for (const item of node) rest.push(item);
    } else {
      bytes += 2;
      for (const key in node) {
        bytes += key.length + 4;
        rest.push((node as Record<string, unknown>)[key]);
      }
    }
  }
  return bytes;
}

export function toResult(id: RequestId, result: unknown): ResultMessage {
  return { jsonrpc: '2.0', id, result };
}

export function toErrorMessage(id: RequestId | null, error: WireError): ErrorMessage {
  return { jsonrpc: '2.0', id, error };
}

export function toNotification(method: string, params?: JsonObject): NotificationMessage {
  return params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params };
}

export const MISSING = 'Required parameter missing';

export function readString(params: JsonObject, name: string, path = name): string {
  const value = params[name];
  if (typeof value === 'string') return value;
  throw toInvalid(path, value === undefined ? MISSING : 'Must be a string');
}

export function readOptionalString(params: JsonObject, name: string, path = name): string | undefined {
  return params[name] === undefined ? undefined : readString(params, name, path);
}

export function readObject(params: JsonObject, name: string, path = name): JsonObject {
  const value = params[name];
  if (isObject(value)) return value;
  throw toInvalid(path, value === undefined ? MISSING : 'Must be an object');
}

export function readOptionalObject(params: JsonObject, name: string, path = name): JsonObject | undefined {
  return params[name] === undefined ? undefined : readObject(params, name, path);
}

/** An optional object of strings, such as the arguments of a prompt. */
export function readStrings(params: JsonObject, name: string, path = name): Record<string, string> {
  const strings = readOptionalObject(params, name, path) ?? {};
  for (const [key, value] of Object.entries(strings)) {
    if (typeof value !== 'string') throw toInvalid(key, 'Must be a string');
  }
  return strings as Record<string, string>;
}

/** Errors name the missing or mistyped parameter, in the same words for every dialect. */
export function toInvalid(parameter: string, error: string): GatewayError {
  return new GatewayError('INVALID_PARAMS', { parameter, error });
}
