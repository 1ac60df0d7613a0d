// Plays a tool over MCP Flow for a client that called it: each prompt becomes a question to the client, and the end of
// the session is the result of the call. Cancelling the call cancels the session.
import type { Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { rejectOnAbort } from '../../../shared/timing.ts';
import { GatewayError, ProtocolError } from '../../../shared/errors.ts';
import { CANCEL, FlowRun } from './flow-run.ts';
import type { FlowOutcome, PromptContext } from './flow-run.ts';
import type { PromptInbox } from './prompt-inbox.ts';
import { fromPromptAnswer, toPromptAsk } from './prompt-form.ts';
import { toCallResult } from '../to-outcome.ts';
import type { Prompt } from '../../../protocol/form/prompt.ts';

export interface FlowToolSession {
  started: JsonObject;
  prompts: PromptInbox;
  /** With `isLast` it is sent even if the call was cancelled. */
  request: (method: string, params: JsonObject, isLast?: boolean) => Promise<JsonObject>;
}

export async function runFlowTool(exchange: Exchange, stage: FlowToolSession): Promise<JsonObject> {
  const { signal } = exchange;
  const playing = new FlowRun(stage, { onPrompt: (prompt, context) => put(exchange, prompt, context) });
  try {
    return toResult(await rejectOnAbort(playing.play(), signal, () => new GatewayError('CANCELLED')));
  } catch (thrown) {
    const { sessionId } = stage.started;
    await stage.request('interaction.cancel', { sessionId, reason: 'The call was given up' }, true).catch(() => {}); // it may have ended
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
  return toCallResult({ result: { success, data, error }, summary });
}
