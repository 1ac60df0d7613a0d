// A small answer as most servers write it: read, and its result kept as it was sent. Everything else is for `readMessage`.
// 1. What is kept is the result and nothing but the result: it is parsed by itself, so that no second id can hide behind it.
// 2. It holds no line end, so it may stand in a line, an event or a frame.
// 3. It begins with its first key, or is `{}`, and ends with its brace: members may be put on and taken off there.
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
  // A level takes two characters, so a short text needs no walk.
  if (!result || (text.length > 2 * maxDepth && isDeeperThan(result, maxDepth - 1))) return undefined;
  return { message: { jsonrpc: '2.0', id: span.id, result }, sent };
}
