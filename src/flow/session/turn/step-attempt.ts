// One attempt of a step: what the step is given, its timeout and its heartbeat.
import { createHmac } from 'node:crypto';
import type { PromptStep } from '../../../kernel/form/prompt.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { Cancellation } from '../../../kernel/base/cancellation.ts';
import { GatewayError, toReadable } from '../../../kernel/base/errors.ts';
import { droppable } from '../../../kernel/base/stray-promises.ts';
import { toMs } from '../../authoring/span.ts';
import type { StepContext, ToolCallerOption, ToolAnswer } from '../../authoring/step.ts';
import { checkProgress } from '../../engine/author-code.ts';
import type { StepSpec } from '../../engine/pending-ask.ts';
import type { FoldedJournal } from '../../fold.ts';
import { toEventUrl } from '../values/event-url.ts';
import type { SessionContext } from '../context/session-context.ts';
import { readStoredFile, revealSecret } from '../values/secrets.ts';

export interface StepExecution {
  context: SessionContext;
  sessionId: string;
  /** A hash of the session's owner. */
  principal: string;
  /** The name of the flow. */
  tool: string;
  spec: StepSpec;
  folded: FoldedJournal;
  signal: () => AbortSignal;
  onProgress?: ((progress: PromptStep) => void) | undefined;
}

/** Rejects when the step exceeds its timeout or misses a heartbeat. */
export async function runWithinTimeout(
  run: StepExecution,
  attempt: number,
  work: (step: StepContext) => unknown,
): Promise<unknown> {
  const late = new Cancellation();
  const signal = () => AbortSignal.any([run.signal(), late.signal]);
  const deadline = toDeadline(run, late);
  try {
    return await Promise.race([work(toContext({ ...run, signal }, attempt, deadline.beat)), deadline.passed]);
  } catch (thrown) {
    throw toReadable(thrown);
  } finally {
    deadline.off();
  }
}

function toDeadline({ context: { clock, limits }, spec }: StepExecution, late: Cancellation) {
  const { timeout, heartbeat } = spec.options;
  const ms = timeout === undefined ? limits.stepMs : toMs(timeout, 'timeout of a step');
  const silence = heartbeat === undefined ? undefined : toMs(heartbeat, 'heartbeat of a step');
  let [offTime, offSilence] = [(): void => {}, (): void => {}];
  let giveUp = (_what: string, _ms: number): void => {};
  const passed = new Promise<never>((_, reject) => {
    giveUp = (what, after) => {
      // Reject first: the error that the abort causes says less.
      reject(new GatewayError('FLOW_TIMEOUT', { what, ms: after }));
      late.abort();
    };
  });
  let isOver = false;
  const beat = (): void => {
    if (silence === undefined || isOver) return;
    offSilence();
    offSilence = clock.after(silence, () => giveUp(`The next heartbeat of step ${spec.key}`, silence));
  };
  offTime = clock.after(ms, () => giveUp(`Step ${spec.key}`, ms));
  beat();
  const off = (): void => {
    isOver = true;
    offTime();
    offSilence();
  };
  return { passed, beat, off };
}

/** Creates the idempotency key and the signal on demand, since most steps use neither. */
function toContext(run: StepExecution, attempt: number, beat: () => void): StepContext {
  const { context, sessionId, principal, spec, folded, signal } = run;
  return {
    get idempotencyKey() {
      return toIdempotencyKey(sessionId, spec.key, folded);
    },
    attempt,
    get signal() {
      return signal();
    },
    heartbeat: beat,
    progress(current, total, message) {
      checkProgress(current, total, message);
      beat();
      run.onProgress?.({ current, ...(total !== undefined && { total }), ...(message !== undefined && { message }) });
    },
    call: (tool, args = {}) => droppable(callTool(tool, args, { tools: context.tools, principal, signal: signal() })),
    url: (event) => droppable(toEventUrl(context, sessionId, event)),
    bytes: (file) => droppable(readStoredFile(context, file)),
    reveal: (secret) => droppable(revealSecret(context, sessionId, secret)),
  };
}

/** The same on every attempt, in every process and under a renamed key. It changes only after the effect was undone. */
export function toIdempotencyKey(sessionId: string, key: string, { epochs, intents }: FoldedJournal): string {
  const begun = intents.get(key)?.entry.idem;
  if (begun) return begun;
  return createHmac('sha256', sessionId)
    .update(`${key}\0${epochs.get(key) ?? 0}`)
    .digest('base64url');
}

interface ToolCallContext {
  tools: ToolCallerOption | undefined;
  principal: string;
  signal: AbortSignal;
}

/** Calls a tool with the gateway or client that the flows are served with. A tool result with `isError` fails the step. */
async function callTool<T>(name: string, args: JsonObject, calling: ToolCallContext): Promise<ToolAnswer<T>> {
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
