// Plays a tool over MCP Flow for a client that has called it: each prompt becomes a question to that client, by whichever way it can be
// asked, and the end of the session is the result of the call. Giving up the call cancels the session.
import type { Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { orAborted } from '../../../shared/abort.ts';
import { GatewayError, ProtocolError } from '../../../shared/errors.ts';
import { CANCEL, Playing } from './playing.ts';
import type { FlowOutcome, PromptContext } from './playing.ts';
import type { Prompts } from './prompts.ts';
import { fromPromptAnswer, toPromptAsk } from './prompt-form.ts';
import { toToolResult } from '../to-outcome.ts';
import type { Prompt } from '../../../protocol/prompt.ts';

export interface Stage {
  started: JsonObject;
  prompts: Prompts;
  /** `isLast`: sent though the call is given up. */
  request: (method: string, params: JsonObject, isLast?: boolean) => Promise<JsonObject>;
}

export async function playTool(exchange: Exchange, stage: Stage): Promise<JsonObject> {
  const { signal } = exchange;
  const playing = new Playing(stage, { onPrompt: (prompt, context) => put(exchange, prompt, context) });
  try {
    return toResult(await orAborted(playing.play(), signal, () => new GatewayError('CANCELLED')));
  } catch (thrown) {
    const { sessionId } = stage.started;
    await stage.request('interaction.cancel', { sessionId, reason: 'The call was given up' }, true).catch(() => {}); // it has ended
    if (!(thrown instanceof ProtocolError)) throw thrown;
    return { content: [{ type: 'text', text: thrown.message }], isError: true };
  }
}

async function put(exchange: Exchange, prompt: Prompt, { progress, problem, signal }: PromptContext): Promise<unknown> {
  if (progress) {
    const { current, total, message } = progress;
    exchange.progress({ progress: current, total, message });
  }
  const said = problem && [problem.error, problem.suggestion].filter(Boolean).join('. ');
  const answered = fromPromptAnswer(prompt, await exchange.ask(toPromptAsk(prompt, said), signal));
  return answered ? answered.value : CANCEL;
}

function toResult({ result: data, success, summary, error, cancelled }: FlowOutcome): JsonObject {
  if (cancelled) return { content: [{ type: 'text', text: 'The user did not want to answer' }], isError: true };
  return toToolResult({ result: { success, data, error }, summary });
}
