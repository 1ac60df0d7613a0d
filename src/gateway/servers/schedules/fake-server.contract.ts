// For tests only (the build leaves `*.contract.ts` out): handshake servers in memory, one link per process or session. The test
// drives each tool step by step. Every message of a tool names its call, so that a wrong delivery is detected.
import { isRequest } from '../../../kernel/message.ts';
import type { Message, RequestId, RequestMessage } from '../../../kernel/message.ts';
import { toPlainMessage } from '../../../kernel/raw/encoded-params.ts';
import type { Link, LinkEvents, SendOptions } from '../../../mcp/connect/links/link.ts';

export type Wire = 'stdio' | 'streamable-http';
/** What a server does with a cancelled call: most handlers continue, and most servers then send no answer. */
export type OnCancel = 'answers late' | 'never answers';

/** A running tool call. */
interface Job {
  /** The tag of the client's call. */
  tag: string;
  server: FakeServer;
  id: RequestId;
  progressToken: RequestId | undefined;
  isCancelled: boolean;
  /** The caller has closed its stream. */
  isCutOff: boolean;
  isAnswered: boolean;
  /** The client wants it to run as a task. */
  mayBeTask: boolean;
  taskId: string | undefined;
}

interface AskedQuestion {
  tag: string;
  server: FakeServer;
  isSettled: boolean;
  isRefused: boolean;
}

export interface Servers {
  readonly wire: Wire;
  readonly onCancel: OnCancel;
  readonly all: FakeServer[];
  readonly jobs: Job[];
  readonly questions: AskedQuestion[];
  readonly problems: string[];
}

const META_TASK = 'io.modelcontextprotocol/related-task';

export class FakeServer implements Link {
  readonly name = 'fake';
  readonly kind: Wire;
  readonly perRequestStreams: boolean;
  isClosed = false;
  readonly #servers: Servers;
  readonly #asked = new Map<RequestId, AskedQuestion>();
  #events: LinkEvents | undefined;
  #nextId = 0;
  #nextTask = 0;

  constructor(servers: Servers) {
    this.#servers = servers;
    this.kind = servers.wire;
    this.perRequestStreams = servers.wire === 'streamable-http';
    servers.all.push(this);
  }

  async start(events: LinkEvents): Promise<void> {
    this.#events = events;
  }

  async send(written: Message, { signal }: SendOptions = {}): Promise<void> {
    if (this.isClosed) return;
    const message = toPlainMessage(written);
    if (isRequest(message)) this.#onRequest(message, signal);
    else if ('method' in message) {
      if (message.method === 'notifications/cancelled') this.#onCancelled(message.params?.requestId as RequestId);
    } else this.#onAnswer(message);
  }

  setHeaders(): void {}

  listen(): void {}

  async close(): Promise<void> {
    this.die('closed');
  }

  die(reason = 'killed'): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const question of this.#asked.values()) question.isSettled = true; // no client is left to answer
    this.#events?.onClose(reason);
  }

  /** `isNamed`: on the stream of its call, or with the id of its task. */
  ask(job: Job, isNamed: boolean, method = 'elicitation/create'): void {
    if (this.isClosed) return;
    const id = `q${++this.#nextId}`;
    const question: AskedQuestion = { tag: job.tag, server: this, isSettled: false, isRefused: false };
    const _meta = isNamed && job.taskId !== undefined ? { [META_TASK]: { taskId: job.taskId } } : undefined;
    const from = isNamed && this.perRequestStreams && !job.isAnswered ? job.id : undefined;
    if (from !== undefined && job.isCutOff) return; // the stream has no reader
    this.#asked.set(id, question);
    this.#servers.questions.push(question);
    this.#say({ id, method, params: { message: job.tag, requestedSchema: {}, ...(_meta && { _meta }) } }, from);
  }

  progress(job: Job): void {
    if (job.progressToken === undefined || this.isClosed) return;
    const params = { progressToken: job.progressToken, progress: 1, message: job.tag };
    this.#say({ method: 'notifications/progress', params }, job.isCutOff ? undefined : job.id);
  }

  log(job: Job, isNamed: boolean): void {
    if (this.isClosed) return;
    const from = isNamed && this.perRequestStreams && !job.isCutOff && !job.isAnswered ? job.id : undefined;
    this.#say({ method: 'notifications/message', params: { level: 'error', data: job.tag } }, from);
  }

  answer(job: Job): void {
    if (job.isAnswered || this.isClosed) return;
    job.isAnswered = true;
    if (job.isCutOff || (job.isCancelled && this.#servers.onCancel === 'never answers')) return;
    this.#say({ id: job.id, result: { content: [{ type: 'text', text: job.tag }] } }, this.#streamOf(job));
  }

  /** Answers with a task in which the tool continues. */
  startTask(job: Job): void {
    if (!job.mayBeTask || job.isAnswered || job.isCancelled || this.isClosed) return;
    job.taskId = `task-${++this.#nextTask}`; // two processes may use the same ids
    job.isAnswered = true;
    const at = new Date(0).toISOString();
    const task = { taskId: job.taskId, status: 'working', createdAt: at, lastUpdatedAt: at, ttl: 60_000 };
    this.#say({ id: job.id, result: { task } }, this.#streamOf(job));
  }

  tellTask(job: Job, status: 'working' | 'completed'): void {
    if (job.taskId === undefined || this.isClosed) return;
    const at = new Date(0).toISOString();
    const params = {
      taskId: job.taskId,
      status,
      createdAt: at,
      lastUpdatedAt: at,
      ttl: 60_000,
      statusMessage: job.tag,
    };
    this.#say({ method: 'notifications/tasks/status', params });
    if (status === 'completed') job.taskId = undefined;
  }

  #onRequest(request: RequestMessage, signal: SendOptions['signal']): void {
    const { id, method, params = {} } = request;
    if (method === 'tools/call') return this.#onCall(request, signal);
    const capabilities = { tools: {}, logging: {}, tasks: { requests: { tools: { call: {} } } } };
    const results: Record<string, object> = {
      initialize: { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: 's', version: '1' } },
      'tools/list': { tools: [] },
    };
    this.#say({ id, result: results[method] ?? {} }, this.perRequestStreams ? id : undefined);
  }

  #onCall({ id, params = {} }: RequestMessage, signal: SendOptions['signal']): void {
    const { tag } = params.arguments as { tag: string };
    const { progressToken } = (params._meta ?? {}) as { progressToken?: RequestId };
    const job: Job = {
      tag,
      server: this,
      id,
      progressToken,
      isCancelled: false,
      isCutOff: false,
      isAnswered: false,
      mayBeTask: 'task' in params,
      taskId: undefined,
    };
    this.#servers.jobs.push(job);
    signal?.addEventListener('abort', () => void (job.isCutOff = !job.isAnswered));
  }

  #onCancelled(id: RequestId): void {
    const job = this.#servers.jobs.find((one) => one.server === this && one.id === id);
    if (job) job.isCancelled = true;
  }

  #onAnswer(response: Message): void {
    const { id, result, error } = response as { id: RequestId; result?: { content?: { by: string } }; error?: object };
    const question = this.#asked.get(id);
    if (!question || question.isSettled) return void this.#servers.problems.push(`answered twice: ${String(id)}`);
    question.isSettled = true;
    question.isRefused = error !== undefined;
    const by = result?.content?.by;
    if (by !== undefined && by !== question.tag) {
      this.#servers.problems.push(`the question of ${question.tag} was answered by ${by}`);
    }
  }

  #streamOf(job: Job): RequestId | undefined {
    return this.perRequestStreams ? job.id : undefined;
  }

  #say(message: object, from?: RequestId): void {
    this.#events?.onMessage({ jsonrpc: '2.0', ...message } as Message, from);
  }
}
