// Converts text to and from JSON-RPC 2.0 messages, independent of methods and eras. Reading never throws: the result is
// a message, a batch, or a refusal that says how to answer.
// 1. The parsed object itself is the message, unknown keys included; only an error without an id is copied (see below).
// 2. Ids keep their type: 1 and "1" are different.
// 3. Nothing recurses over a peer's data, so nesting cannot overflow the stack.
import type { Writable } from 'node:stream';
import { parseExactly, writeExactly } from '../../kernel/raw/exact-numbers.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject, Message, RequestId, RequestMessage, ResultMessage } from '../../kernel/message.ts';
import { EncodedParams } from '../../kernel/raw/encoded-params.ts';
import type { OutgoingParams } from '../../kernel/raw/encoded-params.ts';
import { RawObject, RawText } from '../../kernel/raw/raw-object.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { DEFAULT_LIMITS } from '../../kernel/base/limits.ts';
import { EDGE_CHARS, findId, excessOf } from './json-shape.ts';
import type { ReadLimits, ShapeExcess } from './json-shape.ts';

export interface RefusedInput {
  kind: 'refused';
  id: RequestId | null;
  error: GatewayError;
  /** It was not parsed; `id` is that of an answer. */
  isAnswer?: boolean;
}
export type ParsedInput =
  | { kind: 'message'; message: Message }
  | { kind: 'batch'; items: ParsedInput[] }
  | RefusedInput;

/**
 * Each invalid item (`[1,1,1,…`) costs an error object and an answer, so a large batch of them would use up the memory.
 */
export const MAX_BATCH_ITEMS = 1024;

const BYTE_ORDER_MARK = 0xfeff;

/** A batch up to this size is parsed even if an item is too deep, so that the others are served. */
const SMALL_BATCH_CHARS = 256 * 1024;
const BATCH = /^\s*\[/;

export function readMessage(text: string, limits: ReadLimits): ParsedInput {
  // Each level takes two characters, so a short text needs no check.
  const excess = text.length > 2 * limits.maxDepth ? excessOf(text, limits) : undefined;
  if (excess === undefined) return parseMessage(text, Infinity);
  if (!BATCH.test(text.slice(0, 100))) return refuseShape(text, excess, limits);
  // The brackets of the batch are not a level of its items.
  if (text.length <= SMALL_BATCH_CHARS) return parseMessage(text, limits.maxDepth);
  const inItems = excessOf(text, { ...limits, maxDepth: limits.maxDepth + 1 });
  return inItems ? refuseShape(text, inItems, limits) : parseMessage(text, Infinity);
}

function parseMessage(text: string, maxDepth: number): ParsedInput {
  let value: unknown;
  try {
    value = parseExactly(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch (cause) {
    return { kind: 'refused', id: null, error: new GatewayError('PARSE_ERROR', {}, { cause }) };
  }
  return toIncomingWithin(value, maxDepth);
}

/** Refuses a message that is not parsed. */
export function refuseShape(message: string | Buffer, excess: ShapeExcess, limits: ReadLimits): RefusedInput {
  const { maxDepth, maxValues = DEFAULT_LIMITS.maxValues } = limits;
  const error =
    excess === 'depth'
      ? new GatewayError('NESTED_TOO_DEEP', { limit: maxDepth })
      : new GatewayError('TOO_MANY_VALUES', { limit: maxValues });
  const [beginning, end] = [message.slice(0, EDGE_CHARS), message.slice(-EDGE_CHARS)].map(String);
  const { id, isCall } = findId(beginning!, end);
  return { kind: 'refused', id, error, isAnswer: id !== null && !isCall };
}

export function toParsedInput(value: unknown, limits: ReadLimits): ParsedInput {
  return toIncomingWithin(value, limits.maxDepth);
}

export function writeMessage(message: Message | Message[]): string {
  try {
    return message instanceof OutgoingRequest ? writeCall(message) : writeExactly(message);
  } catch (cause) {
    throw new GatewayError('INTERNAL', {}, { cause });
  }
}

/** A request that we send, with exactly these members. */
export class OutgoingRequest implements RequestMessage {
  readonly jsonrpc = '2.0';
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;

  constructor(id: number, method: string, params: OutgoingParams) {
    this.id = id;
    this.method = method;
    this.params = params as JsonObject;
  }
}

/** Memoized, because most requests use the same method. */
let latest = { method: '', text: '""' };

/** Encodes only the params generically, which halves the time for a small request. */
function writeCall({ id, method, params }: { id: number; method: string; params: OutgoingParams }): string {
  const text = params instanceof EncodedParams ? params.text : writeExactly(params);
  if (method !== latest.method) latest = { method, text: JSON.stringify(method) };
  return `{"jsonrpc":"2.0","id":${id},"method":${latest.text},"params":${text}}`;
}

function toIncomingWithin(value: unknown, maxDepth: number): ParsedInput {
  if (!Array.isArray(value)) return toSingle(value, maxDepth);
  if (value.length === 0) return invalid(null, 'an empty batch');
  if (value.length > MAX_BATCH_ITEMS) return invalid(null, `more than ${MAX_BATCH_ITEMS} messages in a batch`);
  const items: ParsedInput[] = [];
  // Depth counts per item, so that a deep one does not affect the others.
  for (const item of value) items.push(toSingle(item, maxDepth));
  return { kind: 'batch', items };
}

function toSingle(value: unknown, maxDepth: number): ParsedInput {
  if (maxDepth !== Infinity && isDeeperThan(value, maxDepth)) {
    const error = new GatewayError('NESTED_TOO_DEEP', { limit: maxDepth });
    return { kind: 'refused', id: isObject(value) ? readableId(value) : null, error };
  }
  if (!isObject(value)) return invalid(null, 'a message must be an object');
  if (value.jsonrpc !== '2.0') return invalid(readableId(value), 'jsonrpc must be "2.0"');
  if (typeof value.method === 'string') return toCall(value);
  if ('method' in value) return invalid(readableId(value), 'method must be a string');
  return toResponse(value);
}

/** Works level by level on the heap and stops at the first level too many. */
function isDeeperThan(value: unknown, maxDepth: number): boolean {
  let level: object[] = [];
  collectContainer(value, level);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) return true;
    const next: object[] = [];
    for (const container of level) collectChildren(container, next);
    level = next;
  }
  return false;
}

function collectChildren(container: object, into: object[]): void {
  if (Array.isArray(container)) {
    for (const child of container) collectContainer(child, into);
  } else {
    for (const key in container) collectContainer((container as JsonObject)[key], into);
  }
}

function collectContainer(value: unknown, into: object[]): void {
  if (typeof value === 'object' && value !== null) into.push(value);
}

/** A request or a notification. */
function toCall(value: JsonObject): ParsedInput {
  const isRequest = isId(value.id);
  if (!isRequest && 'id' in value) return invalid(null, 'id must be a string or a number');
  if ('result' in value || 'error' in value) return invalid(readableId(value), 'both a method and a result or error');
  if (value.params !== undefined && !isObject(value.params)) {
    return refuse('INVALID_PARAMS', readableId(value), 'params must be an object');
  }
  return { kind: 'message', message: value as unknown as Message };
}

function toResponse(value: JsonObject): ParsedInput {
  const hasError = 'error' in value;
  if (hasError === 'result' in value) {
    return invalid(readableId(value), hasError ? 'both a result and an error' : 'no method, result or error');
  }
  if (hasError && !isWireError(value.error)) {
    return invalid(readableId(value), 'error must have an integer code and a string message');
  }
  if (isId(value.id) || (hasError && value.id === null))
    return { kind: 'message', message: value as unknown as Message };
  // Streamable HTTP allows an error without an id to refuse a POST; null means the same.
  if (hasError && !('id' in value)) return { kind: 'message', message: { ...value, id: null } as unknown as Message };
  return invalid(null, 'the id of a response must be a string or a number, or null in an error');
}

function isWireError(error: unknown): boolean {
  return isObject(error) && Number.isInteger(error.code) && typeof error.message === 'string';
}

export function isId(id: unknown): id is RequestId {
  return typeof id === 'string' || Number.isFinite(id);
}

function readableId(value: JsonObject): RequestId | null {
  return isId(value.id) ? value.id : null;
}

function invalid(id: RequestId | null, reason: string): RefusedInput {
  return refuse('INVALID_REQUEST', id, reason);
}

function refuse(code: 'INVALID_REQUEST' | 'INVALID_PARAMS', id: RequestId | null, data: string): RefusedInput {
  return { kind: 'refused', id, error: new GatewayError(code, { data }) };
}

/** Text, or a list of byte chunks if the result is passed on unparsed. The chunks are not joined unless needed, so a slow socket holds no second copy. */
export type EncodedMessage = string | Buffer[];

/** A batch always becomes text. */
export function encode(message: Message | Message[]): EncodedMessage {
  const { result } = message as ResultMessage;
  if (!(result instanceof RawObject)) return writeMessage(message);
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify((message as ResultMessage).id)},"result":`;
  return result instanceof RawText ? `${head}${result.text}}` : [Buffer.from(head), ...result.chunks(), END];
}

export function byteLengthOf(written: EncodedMessage): number {
  if (typeof written === 'string') return Buffer.byteLength(written);
  return written.reduce((sum, { length }) => sum + length, 0);
}

export function toEncodedText(written: EncodedMessage): string {
  return typeof written === 'string' ? written : Buffer.concat(written).toString();
}

/** Writes in one go. Returns what the last `write` returned. */
export function writeEncoded(stream: Writable, written: EncodedMessage): boolean {
  if (typeof written === 'string') return stream.write(written);
  let isRoomLeft = true;
  stream.cork();
  for (const chunk of written) isRoomLeft = stream.write(chunk);
  stream.uncork();
  return isRoomLeft;
}

/** Adds a line end. */
export function toEncodedLine(written: EncodedMessage): EncodedMessage {
  return typeof written === 'string' ? `${written}\n` : [...written, LINE_END];
}

const END = Buffer.from('}');
const LINE_END = Buffer.from('\n');
