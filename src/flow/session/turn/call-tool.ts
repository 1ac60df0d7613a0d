// Calls a tool for a step, with the gateway or client that the flows are served with. A tool result with `isError` fails the step.
import type { JsonObject } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { ToolAnswer, ToolCallerOption } from '../../authoring/step.ts';

export interface ToolCallContext {
  tools: ToolCallerOption | undefined;
  principal: string;
  signal: AbortSignal;
}

export async function callTool<T>(name: string, args: JsonObject, calling: ToolCallContext): Promise<ToolAnswer<T>> {
  const { tools, principal, signal } = calling;
  if (!tools) {
    const reason = 'give serveFlows the gateway, or the client, by which steps call tools';
    throw new GatewayError('BAD_OPTION', { option: 'tools', reason });
  }
  const caller = typeof tools === 'function' ? await tools() : tools;
  const result = await caller.callTool(name, args, { signal, principal: `flow:${principal}` });
  if (result.isError) throw new ToolFailed(name, textOf(result.content));
  return result as ToolAnswer<T>;
}

/** Its message is the text of the tool. */
class ToolFailed extends Error {
  constructor(tool: string, text: string) {
    super(text === '' ? `${tool} failed` : text);
    this.name = 'ToolFailed';
  }
}

function textOf(content: ToolAnswer<unknown>['content']): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
