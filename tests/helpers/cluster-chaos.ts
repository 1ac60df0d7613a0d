// Calls of many clients while gateways that serve as one are killed, and what must hold of them afterwards.
import { setTimeout as pause } from 'node:timers/promises';
import type { EffectsServer, TestCluster } from './cluster.ts';
import { send } from './http-wire.ts';
import type { Answer, Json } from './http-wire.ts';
import { FlowTurns } from './flow-turns.ts';
import { callModern, elicits, modern, openSession } from './mcp-http.ts';
import type { HttpSession } from './mcp-http.ts';

type Kind = 'plain' | 'session' | 'question' | 'turn';

interface MadeCall {
  readonly id: string;
  readonly kind: Kind;
  readonly tool: string;
  readonly mark: string;
  /** How each try ended: the text of the answer, or how it failed. */
  readonly outcomes: { text?: string | undefined; failure?: string; ms: number }[];
}

export interface ChaosReport {
  readonly calls: number;
  readonly kills: number;
  readonly answered: number;
  readonly failed: Record<string, number>;
  readonly slowestMs: number;
  readonly newSessions: number;
  /** By kind of call: how many there were. */
  readonly kinds: Record<string, number>;
  /** Answers to flows that were acknowledged; each of them was found again at the end. */
  readonly acknowledged: number;
  readonly retried: number;
  /** What must not be: empty if all is well. */
  readonly breaches: string[];
}

const HANG_MS = 15_000;
const RETRY_MS = 250;
const TOOLS = ['look', 'pay', 'put'];

export class Chaos {
  readonly #cluster: TestCluster;
  readonly #effects: EffectsServer;
  readonly #made: MadeCall[] = [];
  readonly #turns: FlowTurns[] = [];
  #kills = 0;
  #newSessions = 0;

  constructor(cluster: TestCluster, effects: EffectsServer) {
    this.#cluster = cluster;
    this.#effects = effects;
  }

  /** `killMs`: how often a random gateway is killed; another process takes its place at once. */
  async run({ calls, clients, killMs }: { calls: number; clients: number; killMs: number }): Promise<ChaosReport> {
    const over = new AbortController();
    const killing = this.#kill(killMs, over.signal);
    const share = Math.ceil(calls / clients);
    await Promise.all(Array.from({ length: clients }, (_, client) => this.#client(client, share)));
    over.abort();
    await killing;
    const lost = await Promise.all(this.#turns.map((turns) => turns.finish()));
    return this.#report(lost.flat());
  }

  async #kill(everyMs: number, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await pause(everyMs, undefined, { signal: over }).catch(() => {});
      if (over.aborted) return;
      const at = Math.floor(Math.random() * this.#cluster.replicas.length);
      await this.#cluster.replicas[at]!.parley.stop('SIGKILL');
      this.#kills++;
      await this.#restart(at);
    }
  }

  /** As an orchestrator does: one that cannot reach Redis on a busy machine ends, and is started again. */
  async #restart(at: number): Promise<void> {
    for (let tries = 1; ; tries++) {
      const failure = await this.#cluster.restart(at).catch((error: unknown) => error);
      if (failure === undefined) return;
      if (tries === 5) throw failure;
    }
  }

  /** 60 % of its calls are plain, 20 % in a session, 10 % ask, and 10 % are turns of flows. */
  async #client(client: number, count: number): Promise<void> {
    const mark = `mark-${client}`;
    let session: HttpSession | undefined;
    const turns = new FlowTurns(this.#cluster.url, mark);
    this.#turns.push(turns);
    for (let n = 0; n < count; n++) {
      const dice = Math.random();
      const kind: Kind = dice < 0.6 ? 'plain' : dice < 0.8 ? 'session' : dice < 0.9 ? 'question' : 'turn';
      const tool = kind === 'question' ? 'ask' : kind === 'turn' ? 'deal' : TOOLS[n % TOOLS.length]!;
      const call: MadeCall = { id: `${client}-${n}`, kind, tool, mark, outcomes: [] };
      this.#made.push(call);
      const mayRetry = tool === 'look' || kind === 'turn';
      for (let tries = 0; tries < (mayRetry ? 2 : 1); tries++) {
        if (kind === 'session') session ??= await this.#open();
        const failure = await this.#try(call, session, turns);
        if (failure?.startsWith('404')) session = undefined;
        if (failure === undefined) break;
        await pause(RETRY_MS); // a process that was killed takes connections for some moments more
      }
    }
  }

  async #open(): Promise<HttpSession> {
    for (;;) {
      const session = await openSession(this.#cluster.url).catch(() => undefined);
      if (session) {
        this.#newSessions++;
        return session;
      }
      await pause(50);
    }
  }

  /** How it failed; undefined if it was answered. */
  async #try(call: MadeCall, session: HttpSession | undefined, turns: FlowTurns): Promise<string | undefined> {
    const begun = performance.now();
    const ended = (outcome: { text?: string | undefined; failure?: string }): void =>
      void call.outcomes.push({ ...outcome, ms: performance.now() - begun });
    try {
      const { status, answer } = await (call.kind === 'turn' ? turns.take(call.id) : this.#send(call, session));
      const text = answer?.result?.content?.[0]?.text;
      const isError = answer?.result?.isError === true;
      const failure = answer?.error
        ? `${status} ${answer.error.message}`
        : isError || !text
          ? `${status} ${text}`
          : undefined;
      ended(failure === undefined ? { text } : { failure });
      return failure;
    } catch (thrown) {
      const failure = `connection: ${(thrown as NodeJS.ErrnoException).code ?? (thrown as Error).message}`;
      ended({ failure });
      return failure;
    }
  }

  async #send({ id, kind, tool, mark }: MadeCall, session: HttpSession | undefined) {
    const args = { id, mark, ms: Math.floor(Math.random() * 200) };
    if (kind === 'question') return this.#ask(args);
    const reply = await (kind === 'session' ? session!.call(tool, args) : callModern(this.#cluster.url, tool, args));
    return { status: reply.status, answer: reply.messages.at(-1) ?? reply.json };
  }

  async #ask(args: Json): Promise<{ status: number; answer: Answer | undefined }> {
    const params = { name: 'ask', arguments: args };
    const first = await send(this.#cluster.url, modern('tools/call', params, elicits));
    const { requestState, inputRequests } = (first.json.result ?? {}) as {
      requestState?: string;
      inputRequests?: Json;
    };
    if (requestState === undefined) return { status: first.status, answer: first.json };
    const yes = { action: 'accept', content: { name: String(args['mark']) } };
    const inputResponses = Object.fromEntries(Object.keys(inputRequests!).map((key) => [key, yes]));
    const { status, json } = await send(
      this.#cluster.url,
      modern('tools/call', { ...params, requestState, inputResponses }, elicits),
    );
    return { status, answer: json };
  }

  /** `lost`: what the flows say. */
  #report(lost: string[]): ChaosReport {
    const effects = this.#effects.effects();
    const failed: Record<string, number> = {};
    const kinds: Record<string, number> = {};
    const breaches: string[] = [...lost];
    for (const { deals } of this.#turns)
      for (const id of deals)
        if ((effects.get(id) ?? 0) !== 1) breaches.push(`the flow ${id} acted ${effects.get(id)} times`);
    let answered = 0;
    let slowestMs = 0;
    for (const call of this.#made) {
      const last = call.outcomes.at(-1)!;
      for (const { ms, failure, text } of call.outcomes) {
        slowestMs = Math.max(slowestMs, ms);
        if (ms > HANG_MS) breaches.push(`${call.id} took ${Math.round(ms)} ms`);
        if (failure !== undefined) failed[failure] = (failed[failure] ?? 0) + 1;
        if (text !== undefined && !text.includes(`${call.id} ${call.mark}`)) breaches.push(`${call.id} got ${text}`);
      }
      if (last.text !== undefined) answered++;
      kinds[call.kind] = (kinds[call.kind] ?? 0) + 1;
      breaches.push(...breachesOf(call, effects.get(call.id) ?? 0));
    }
    const rounded = Math.round(slowestMs);
    return {
      calls: this.#made.length,
      kills: this.#kills,
      answered,
      failed,
      slowestMs: rounded,
      newSessions: this.#newSessions,
      kinds,
      acknowledged: this.#turns.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
      retried: this.#made.filter(({ outcomes }) => outcomes.length > 1).length,
      breaches,
    };
  }
}

function breachesOf({ id, kind, tool, outcomes }: MadeCall, effects: number): string[] {
  const isAnswered = outcomes.some(({ text }) => text !== undefined);
  const breaches: string[] = [];
  if (outcomes.length === 0) breaches.push(`${id} has no outcome`);
  if (kind === 'turn') return breaches; // what it did is asked of the flow
  if (tool === 'look' && !isAnswered) {
    const how = outcomes.map(({ failure, ms }) => `${failure} after ${Math.round(ms)} ms`).join(', then ');
    breaches.push(`${id} only reads, and was not answered in two tries (${kind}): ${how}`);
  }
  if (outcomes.filter(({ text }) => text !== undefined).length > 1) breaches.push(`${id} was answered twice`);
  if (['pay', 'ask'].includes(tool) && effects > 1) breaches.push(`${id} (${tool}) acted ${effects} times`);
  if (isAnswered && effects === 0) breaches.push(`${id} (${tool}) was answered without acting`);
  return breaches;
}
