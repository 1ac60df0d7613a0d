// One user's flows of tests/fixtures/servers/effects.mjs, a turn at a time, by a client without a session. It keeps what was acknowledged, to find it again.
import { setTimeout as pause } from 'node:timers/promises';
import { send } from './http-wire.ts';
import type { Answer } from './http-wire.ts';
import { modern } from './mcp-http.ts';

interface Deal {
  readonly id: string;
  readonly sessionId: string;
  promptId: string;
  /** What was acknowledged, in the order of the questions. */
  readonly answers: string[];
}

interface FlowResult {
  sessionId?: string;
  accepted?: boolean;
  state?: string;
  initialPrompt?: { promptId: string };
  currentPrompt?: { promptId: string };
  next?: { state: string; prompt?: { promptId: string }; result?: { data?: unknown } };
  result?: { data?: unknown };
}

const TRIES = 50;

export class FlowTurns {
  /** The flows that were played to their end. */
  readonly deals: string[] = [];
  acknowledged = 0;
  readonly #url: string;
  readonly #mark: string;
  readonly #lost: string[] = [];
  #deal: Deal | undefined;

  constructor(url: string, mark: string) {
    this.#url = url;
    this.#mark = mark;
  }

  /** Begins a flow, or answers its open question. The same turn may be taken again after a failure. */
  async take(id: string): Promise<{ status: number; answer: Answer | undefined }> {
    const { status, json } = await (this.#deal ? this.#answer(this.#deal, id) : this.#begin(id));
    const text = `${id} ${this.#mark}`;
    return { status, answer: json.error ? json : { result: { content: [{ text }] } } };
  }

  /** Plays the open flow to its end, and says what is lost. Waits for gateways that are just coming back. */
  async finish(): Promise<string[]> {
    for (let tries = 0; this.#deal && tries < TRIES; tries++) {
      await this.take(`${this.#mark}-last-${tries}`).catch(() => pause(200));
    }
    if (this.#deal) this.#lost.push(`the flow ${this.#deal.id} does not end`);
    return this.#lost;
  }

  async #begin(id: string) {
    const deal = `deal ${this.#mark} ${id}`;
    const reply = await this.#send('interaction.start', { toolName: 'deal', initialParams: { id: deal } });
    const { sessionId, initialPrompt } = resultOf(reply);
    if (sessionId && initialPrompt) this.#deal = { id: deal, sessionId, promptId: initialPrompt.promptId, answers: [] };
    return reply;
  }

  async #answer(deal: Deal, id: string) {
    const { sessionId, promptId } = deal;
    const response = { value: `by-${id}`, timestamp: 0, metadata: {} };
    const reply = await this.#send('interaction.respond', { sessionId, promptId, response });
    const { accepted, next } = resultOf(reply);
    if (accepted === true) {
      this.acknowledged++;
      deal.answers.push(response.value);
      if (next?.prompt) deal.promptId = next.prompt.promptId;
      else this.#end(deal, next?.result?.data);
    } else await this.#look(deal);
    return reply;
  }

  /** A turn may have counted although its answer was lost: then another question is open now. */
  async #look(deal: Deal): Promise<void> {
    const { sessionId } = deal;
    const { state, currentPrompt, result } = resultOf(await this.#send('interaction.getState', { sessionId }));
    if (state === 'completed') return this.#end(deal, result?.data);
    if (state === undefined) this.#lost.push(`the flow ${deal.id} is not found`);
    if (currentPrompt) deal.promptId = currentPrompt.promptId;
  }

  #end({ id, answers }: Deal, data: unknown): void {
    const words = String(data).split(' ');
    for (const answer of answers)
      if (!words.includes(answer)) this.#lost.push(`the flow ${id} has lost ${answer}: it ended with ${String(data)}`);
    if (!String(data).startsWith(`${id} `)) this.#lost.push(`the flow ${id} ended with ${String(data)}`);
    this.deals.push(id);
    this.#deal = undefined;
  }

  #send(method: string, params: Record<string, unknown>) {
    return send(this.#url, modern(method, params));
  }
}

function resultOf({ json }: { json: Answer }): FlowResult {
  return (json.result ?? {}) as unknown as FlowResult;
}
