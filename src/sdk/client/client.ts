// A connected server with a typed method for everything it can offer, in any revision.
import type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  LoggingLevel,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  Root,
  Tool,
} from '@modelcontextprotocol/client';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { isWithin } from '../../mcp/eras/notifications.ts';
import { followTask } from '../../mcp/tasks/follow-task.ts';
import type { ConnectedServer } from '../../mcp/connect/connected-server.ts';
import { START_ID } from '../../kernel/interaction.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { pages } from '../../kernel/pages.ts';
import type { ServerView } from '../../kernel/server-view.ts';
import type { Change, TaskState } from '../../kernel/target.ts';
import {
  CALL_TOOL,
  COMPLETE_ARGUMENT,
  GET_PROMPT,
  LIST_PROMPTS,
  LIST_RESOURCES,
  LIST_TEMPLATES,
  LIST_TOOLS,
  PING_PEER,
  READ_RESOURCE,
  ROOTS_CHANGED,
} from '../../kernel/methods.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { validateStandard } from '../../kernel/form/standard-schema.ts';
import type { Log } from '../../kernel/base/log.ts';
import type { AskResponder } from './ask-responder.ts';
import { ListedTools, isTool } from './listed-tools.ts';
import type { Listeners } from './listeners.ts';
import type { ClientCallOptions, CallToolOptions, TypedResult } from './types.ts';

const METHOD_NOT_FOUND = -32601;

type Of<K extends Change['kind']> = Extract<Change, { kind: K }>;

export class Client {
  readonly #connected: ConnectedServer;
  readonly #answers: AskResponder;
  readonly #listeners: Listeners;
  readonly #log: Log;
  readonly #tools: ListedTools;

  constructor(
    connected: ConnectedServer,
    { answers, listeners, log }: { answers: AskResponder; listeners: Listeners; log: Log },
  ) {
    this.#connected = connected;
    this.#answers = answers;
    this.#listeners = listeners;
    this.#log = log;
    this.#tools = new ListedTools(log);
  }

  /** Name, capabilities, dialect and revision of the server. */
  get server(): ServerView {
    return this.#connected.server;
  }

  get transport(): ConnectedServer['transport'] {
    return this.#connected.transport;
  }

  /** All of them. */
  async listTools(options?: ClientCallOptions): Promise<Tool[]> {
    const tools = await this.#list<Tool>(LIST_TOOLS, 'tools', isTool, options);
    this.#tools.learn(tools);
    return tools;
  }

  /**
   * Resolves with the result, also if the server runs the call as a task. A failing tool has a result with `isError`. A result that does
   * not match the listed output schema is UPSTREAM_INVALID.
   */
  callTool<O extends StandardSchemaV1>(
    name: string,
    args: JsonObject,
    options: CallToolOptions<O> & { output: O },
  ): Promise<TypedResult<O>>;
  callTool(name: string, args?: JsonObject, options?: CallToolOptions): Promise<CallToolResult>;
  async callTool(name: string, args: JsonObject = {}, options: CallToolOptions = {}): Promise<CallToolResult> {
    await this.#approveCall(name, args);
    const safe = this.#safe(options);
    const { task = false, onTask: _, startId, output, ...call } = safe;
    const asTask = this.#tools.asTask(name, task !== false);
    const result = await this.#connected.call({
      ...call,
      method: CALL_TOOL,
      params: { name, arguments: args, ...(startId !== undefined && { _meta: { [START_ID]: startId } }) },
      task: asTask ? { ...(typeof task === 'object' && task) } : undefined,
    });
    const ended = isObject(result.task)
      ? await followTask(this.#connected, this.#answers, result.task as unknown as TaskState, safe)
      : result;
    const called = this.#toCallResult(ended, name);
    return output && called.isError !== true ? this.#typed(called, output, name) : called;
  }

  listResources(options?: ClientCallOptions): Promise<Resource[]> {
    return this.#list(LIST_RESOURCES, 'resources', (entry) => 'uri' in entry || 'name' in entry, options);
  }

  listResourceTemplates(options?: ClientCallOptions): Promise<ResourceTemplateType[]> {
    const isEntry = (entry: JsonObject) => typeof entry.uriTemplate === 'string';
    return this.#list(LIST_TEMPLATES, 'resourceTemplates', isEntry, options);
  }

  async readResource(uri: string, options?: ClientCallOptions): Promise<ReadResourceResult> {
    await this.#answers.approve({ kind: READ_RESOURCE, uri });
    return this.#call<ReadResourceResult>(READ_RESOURCE, { uri }, 'contents', options);
  }

  listPrompts(options?: ClientCallOptions): Promise<Prompt[]> {
    return this.#list(LIST_PROMPTS, 'prompts', (entry) => typeof entry.name === 'string', options);
  }

  getPrompt(name: string, args: Record<string, string> = {}, options?: ClientCallOptions): Promise<GetPromptResult> {
    return this.#call(GET_PROMPT, { name, arguments: args }, 'messages', options);
  }

  /** Values that complete what was typed, for an argument of a prompt or a variable of a template. */
  async complete(
    ref: { prompt: string } | { template: string },
    argument: { name: string; value: string },
    context?: { arguments: Record<string, string> },
    options?: ClientCallOptions,
  ): Promise<CompleteResult['completion']> {
    const encoded =
      'prompt' in ref ? { type: 'ref/prompt', name: ref.prompt } : { type: 'ref/resource', uri: ref.template };
    const params = { ref: encoded, argument, ...(context && { context }) };
    const { completion } = await this.#connected.call({
      ...this.#safe(options),
      method: COMPLETE_ARGUMENT,
      params,
    });
    if (isObject(completion) && Array.isArray(completion.values)) return completion as CompleteResult['completion'];
    throw this.#invalid(`${COMPLETE_ARGUMENT} answered without values`);
  }

  /** Sends any request, in the form of the newest revision; for extensions. Asks the approver as the method of that name would. */
  async request(method: string, params?: JsonObject, options?: ClientCallOptions): Promise<JsonObject> {
    const { name, uri, arguments: args } = params ?? {};
    if (method === CALL_TOOL) await this.#approveCall(String(name), isObject(args) ? args : {});
    if (method === READ_RESOURCE) await this.#answers.approve({ kind: READ_RESOURCE, uri: String(uri) });
    return this.#connected.call({ ...this.#safe(options), method, params });
  }

  async ping(options?: ClientCallOptions): Promise<void> {
    await this.#connected.call({ ...this.#safe(options), method: PING_PEER });
  }

  setLogLevel(level: LoggingLevel): Promise<void> {
    return this.#connected.setLogLevel(level);
  }

  /** Calls `onUpdate` when the resource changes; the returned function ends it. */
  async subscribe(uri: string, onUpdate: (uri: string) => void): Promise<() => Promise<void>> {
    const off = this.#listeners.on('resource', (change) =>
      isWithin(change.uri, uri) ? onUpdate(change.uri) : undefined,
    );
    try {
      await this.#connected.subscribe(uri);
    } catch (thrown) {
      off();
      throw thrown;
    }
    let subscribed = true;
    return async () => {
      if (!subscribed) return;
      subscribed = false;
      off();
      await this.#connected.unsubscribe(uri);
    };
  }

  /** Reports changed lists, log messages, tasks and completed links; the returned function ends it. */
  on<K extends Change['kind']>(kind: K, listener: (change: Of<K>) => unknown): () => void {
    const off = this.#listeners.on(kind, listener);
    if (kind === 'tools' || kind === 'prompts' || kind === 'resources') this.#connected.watch();
    return off;
  }

  /** Resolves with the reason when the connection ends, on either side. */
  get closed(): Promise<string> {
    return this.#listeners.closed;
  }

  async setRoots(roots: Root[]): Promise<void> {
    this.#answers.setRoots(roots);
    await this.#connected.notify(ROOTS_CHANGED);
  }

  async close(): Promise<void> {
    await this.#connected.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A callback of the program that fails must not end the process, nor the call. */
  #safe<O extends CallToolOptions>(options: O): O;
  #safe<O extends CallToolOptions>(options: O | undefined): O | undefined;
  #safe<O extends CallToolOptions>(options: O | undefined): O | undefined {
    if (!options?.onProgress && !options?.onTask) return options;
    const { onProgress, onTask } = options;
    const listeners = this.#listeners;
    return {
      ...options,
      ...(onProgress && {
        onProgress: (...told: Parameters<typeof onProgress>) => listeners.call('progress', () => onProgress(...told)),
      }),
      ...(onTask && { onTask: (task: TaskState) => listeners.call('task', () => onTask(task)) }),
    };
  }

  #approveCall(name: string, args: JsonObject): Promise<void> {
    return this.#answers.approve({
      kind: CALL_TOOL,
      name,
      arguments: args,
      annotations: this.#tools.annotations(name),
    });
  }

  /** `list` names the required field of the result. */
  async #call<T>(method: string, params: JsonObject, list: string, options?: ClientCallOptions): Promise<T> {
    const result = await this.#connected.call({ ...this.#safe(options), method, params });
    if (Array.isArray(result[list])) return result as T;
    throw this.#invalid(`${method} answered without ${list}`);
  }

  /** Fetches all pages. Drops unusable entries with a warning; a malformed page and a list without an end are errors. */
  async #list<T>(
    method: string,
    key: string,
    isEntry: (entry: JsonObject) => boolean,
    options?: ClientCallOptions,
  ): Promise<T[]> {
    const server = this.server.info.name;
    const entries: T[] = [];
    const onCutOff = (why: 'circle' | 'limit'): void => {
      if (why === 'limit') throw this.#invalid(`${method} does not end`);
      this.#log.warn({ server, method }, 'upstream.pages-in-a-circle');
    };
    const fetch = (params: JsonObject) => this.#page(method, key, params, options);
    for await (const page of pages({ key, fetch, onCutOff })) {
      const list = page[key];
      if (!Array.isArray(list)) throw this.#invalid(`${method} answered without an array of ${key}`);
      const usable = list.filter((entry) => isObject(entry) && isEntry(entry));
      const dropped = list.length - usable.length;
      if (dropped > 0) this.#log.warn({ server, method, dropped }, 'upstream.entries-dropped');
      entries.push(...(usable as T[]));
    }
    return entries;
  }

  /** A server that does not declare the area, and lacks the method, has an empty list. */
  async #page(method: string, key: string, params: JsonObject, options?: ClientCallOptions): Promise<JsonObject> {
    try {
      const call = { ...this.#safe(options), method, params: 'cursor' in params ? params : undefined };
      const page = await this.#connected.call(call);
      if (typeof (page.nextCursor ?? '') === 'string') return page;
      throw this.#invalid(`nextCursor of ${method} must be a string`);
    } catch (thrown) {
      const area = method.split('/')[0] as 'tools';
      if (this.server.capabilities[area] === undefined && isUnknownMethod(thrown)) return { [key]: [] };
      throw thrown;
    }
  }

  /** Older servers leave out `content` when they answer with structured data. */
  #toCallResult(result: JsonObject, name: string): CallToolResult {
    const called = (Array.isArray(result.content) ? result : { content: [], ...result }) as CallToolResult;
    if (!Array.isArray(result.content) && result.structuredContent === undefined) {
      throw this.#invalid(`${CALL_TOOL} answered without content`);
    }
    const problem = this.#tools.problem(name, called);
    if (problem !== undefined) throw this.#invalid(problem);
    return called;
  }

  /** By all rules of the schema, and as it transforms the data. */
  async #typed(called: CallToolResult, output: StandardSchemaV1, tool: string): Promise<CallToolResult> {
    const result = await validateStandard(output, called.structuredContent);
    if (result.issues === undefined) return { ...called, structuredContent: result.value as JsonObject };
    const reasons = result.issues.map(({ message }) => message).join('; ');
    throw this.#invalid(`the result of ${tool} does not fit the schema of this call: ${reasons}`);
  }

  #invalid(reason: string): GatewayError {
    return new GatewayError('UPSTREAM_INVALID', { server: this.server.info.name, reason });
  }
}

function isUnknownMethod(thrown: unknown): boolean {
  if (thrown instanceof ProtocolError) return thrown.code === METHOD_NOT_FOUND;
  return thrown instanceof GatewayError && thrown.code === 'NOT_SUPPORTED';
}
