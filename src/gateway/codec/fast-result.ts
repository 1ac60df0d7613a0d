// Reads small answers in the form that most servers write, and keeps the text of the result. Everything else is left to
// `readMessage`.
// 1. The kept text is exactly the result: it is parsed by itself, so that no second id can hide behind it.
// 2. It contains no line end, so it fits into a line, an event or a frame.
// 3. It is `{}`, or begins with a key and ends with a brace, so that members can be added and removed at its ends.
import type { ResultMessage } from '../../protocol/message.ts';
import type { ReadLimits } from './json-rpc.ts';
import { isDeeperThan } from './json-rpc.ts';
import type { MessageTemplate } from './message-span.ts';
import { findSpan, isTight, parseObject } from './message-span.ts';

export interface FastResult {
  message: ResultMessage;
  /** The result, as text. */
  sent: string;
}

const RESULT: MessageTemplate = { afterId: ',"result":{', atStart: '{"result":{' };

export function readFastResult(text: string, { maxDepth }: ReadLimits): FastResult | undefined {
  const span = findSpan(text, RESULT);
  if (!span || text.includes('\n') || text.includes('\r')) return undefined;
  const sent = text.slice(span.from, span.to);
  const result = isTight(sent) ? parseObject(sent) : undefined;
  // Each level takes two characters, so a short text needs no check.
  if (!result || (text.length > 2 * maxDepth && isDeeperThan(result, maxDepth - 1))) return undefined;
  return { message: { jsonrpc: '2.0', id: span.id, result }, sent };
}
