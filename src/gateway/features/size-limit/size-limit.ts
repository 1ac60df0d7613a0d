// Keeps results from flooding a model. An oversize tool result is replaced by an error result that the model can read, or cut
// with a note. Oversize resources and prompts become errors.
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { RawObject } from '../../../kernel/raw/raw-object.ts';
import type { Step } from '../../../kernel/step.ts';
import { methodsWhere, rowOf } from '../../../kernel/methods.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { answerIn, resultIn, withAnswer } from '../../chain/outcome.ts';
import { checkOptionChoice, withDefaults } from '../../chain/step-options.ts';

export interface SizeLimitOptions {
  /** The size of the result as JSON. */
  maxBytes?: number | undefined;
  /** `truncate` cuts the texts of a tool result. Structured content cannot be cut, because it has to match its schema. */
  over?: 'error' | 'truncate' | undefined;
}

const DEFAULTS = { maxBytes: 1024 * 1024, over: 'error' };

/**
 * Keeps large results from models.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { sizeLimit } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [sizeLimit({ maxBytes: 100_000, over: 'truncate' })] });
 * ```
 */
export function sizeLimit(options: SizeLimitOptions = {}): Step {
  const { maxBytes, over } = withDefaults('sizeLimit', options, DEFAULTS);
  checkOptionChoice('sizeLimit.over', over, ['error', 'truncate']);
  const toLimited = (result: JsonObject): JsonObject => {
    const bytes = sizeOf(result);
    if (bytes <= maxBytes) return result;
    const text = `The result has ${bytes} bytes; the limit is ${maxBytes}.`;
    const cut = over === 'truncate' ? truncate(result, maxBytes, `[Cut: ${text}]`) : undefined;
    return cut ?? { content: [{ type: 'text', text: `${text} Ask for less of it.` }], isError: true };
  };
  return {
    name: 'sizeLimit',
    seesStarts: true,
    methods: methodsWhere(({ content }) => content),
    handle: async function sizeLimit(exchange, next) {
      const outcome = await next();
      const unread = resultIn(outcome);
      if (unread instanceof RawObject && unread.byteLength <= maxBytes) return outcome;
      const { result } = outcome;
      if (rowOf(exchange.method)?.content === 'tool') {
        const answer = answerIn(result, exchange);
        if (answer) outcome.result = withAnswer(result, toLimited(answer), exchange);
      } else if (sizeOf(result) > maxBytes) {
        const reason = `a result of ${sizeOf(result)} bytes; the limit is ${maxBytes}`;
        throw new GatewayError('UPSTREAM_INVALID', { server: exchange.server ?? 'The server', reason });
      }
      return outcome;
    },
  } satisfies Step;
}

/**
 * Cuts a tool result to a size: whole blocks while they fit, then the beginning of a text, then a note. Undefined for structured content, which has to
 * match its schema.
 */
function truncate(result: JsonObject, maxBytes: number, note: string): JsonObject | undefined {
  if (result.structuredContent !== undefined || !Array.isArray(result.content)) return undefined;
  const last = { type: 'text', text: note };
  const { content, ...rest } = result;
  let left = maxBytes - sizeOf({ ...rest, content: [last] });
  const kept: unknown[] = [];
  for (const block of content as unknown[]) {
    const size = sizeOf(block) + 1;
    if (size <= left) {
      kept.push(block);
      left -= size;
      continue;
    }
    if (isObject(block) && typeof block.text === 'string') {
      const text = cut(block.text, left - sizeOf({ ...block, text: '' }) - 1);
      if (text !== '') kept.push({ ...block, text });
    }
    break;
  }
  return left < 0 ? undefined : { ...rest, content: [...kept, last] };
}

/** As many characters as fit when written as JSON. Never splits a character. */
function cut(text: string, maxBytes: number): string {
  let [low, high] = [0, Math.max(0, Math.min(text.length, maxBytes))];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (sizeOf(text.slice(0, middle)) - 2 <= maxBytes) low = middle;
    else high = middle - 1;
  }
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(low - 1));
  return text.slice(0, isHalf ? low - 1 : low);
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
