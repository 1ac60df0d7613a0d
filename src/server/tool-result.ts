// Turns the return value or error of a tool's handler into a result. The author's message is sent to the model; a stack never is. A result
// that breaks the tool's own output schema is a defect of the server and is not passed on.
import type { Exchange } from '../protocol/exchange.ts';
import { isObject } from '../protocol/message.ts';
import type { JsonObject } from '../protocol/message.ts';
import type { ErrorCode } from '../shared/error-table.ts';
import { GatewayError, ProtocolError } from '../shared/errors.ts';
import { toReason } from '../protocol/schema/schema-problem.ts';
import type { CheckedSchema } from './schema/schema.ts';

interface Producer {
  readonly key: string;
  readonly output: CheckedSchema | undefined;
}

export function toToolResult(returned: unknown, tool: Producer): JsonObject | Promise<JsonObject> {
  const result = normalized(returned, tool.output);
  if (tool.output === undefined || result['isError'] === true) return withText(result);
  return checked(result, tool.key, tool.output);
}

/** Errors of questions to the user, which the model should read. */
const OF_THE_CLIENT: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['ASK_REFUSED', 'ANSWER_INVALID']);

/** A result with `isError`, or throws if the error is not for the model. */
export function toFailedResult(thrown: unknown, exchange: Exchange): JsonObject {
  if (exchange.signal.aborted) throw new GatewayError('CANCELLED', {}, { cause: thrown });
  const isRefusal = thrown instanceof GatewayError && OF_THE_CLIENT.has(thrown.code);
  if (!isRefusal && (thrown instanceof GatewayError || thrown instanceof ProtocolError)) throw thrown;
  return { content: [toText(thrown instanceof Error ? thrown.message : String(thrown))], isError: true };
}

/** Leaves `content` out if it is still to be derived from the structured part. */
function normalized(returned: unknown, output: CheckedSchema | undefined): JsonObject {
  if (returned === undefined) return { content: [], isError: false };
  if (isObject(returned) && Array.isArray(returned['content'])) {
    if (typeof returned['isError'] === 'boolean') return returned;
    // V8 spreads after a first field ten times faster than before a last one, and every call comes through here.
    return 'isError' in returned ? { ...returned, isError: false } : { isError: false, ...returned };
  }
  const isContent = typeof returned === 'string' || Array.isArray(returned);
  if (!isContent || wantsOtherThanObject(output)) return { structuredContent: returned, isError: false };
  return { content: typeof returned === 'string' ? [toText(returned)] : returned, isError: false };
}

/** With an output schema for an array or a string, such a value is structured content. */
function wantsOtherThanObject(output: CheckedSchema | undefined): boolean {
  const type = output?.json['type'];
  return type !== undefined && type !== 'object';
}

/** Sends the value as the schema transforms it. */
async function checked(result: JsonObject, tool: string, output: CheckedSchema): Promise<JsonObject> {
  const given = result['structuredContent'];
  const verdict = await output.check(given);
  if (verdict.problems === undefined) return withText({ ...result, structuredContent: verdict.value });
  const reason = given === undefined ? 'there is no structured content' : toReason(verdict.problems);
  const cause = new Error(`The result of tool ${tool} does not match its output schema: ${reason}`);
  throw new GatewayError('INTERNAL', {}, { cause });
}

function withText(result: JsonObject): JsonObject {
  if (result['content'] !== undefined) return result;
  return { content: [toText(JSON.stringify(result['structuredContent']))], ...result };
}

function toText(text: string): { type: 'text'; text: string } {
  return { type: 'text', text };
}
