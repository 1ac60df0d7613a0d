// A server as its author and its extensions use it, and as the target of exchanges. Knows no transport, dialect or revision. The methods are
// in tools.ts, resources.ts, prompts.ts and completion.ts; those of areas that a server does not offer get METHOD_NOT_FOUND.
import type { Implementation, LoggingLevel, ServerCapabilities } from '@modelcontextprotocol/client';
import { Tasks } from '../../mcp/tasks/tasks.ts';
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { OpenPages, PagesHost, Change, Target, Watcher } from '../../kernel/target.ts';
import {
  CALL_TOOL,
  CANCEL_TASK,
  COMPLETE_ARGUMENT,
  GET_PROMPT,
  GET_TASK,
  GET_TASK_RESULT,
  LIST_PROMPTS,
  LIST_RESOURCES,
  LIST_TASKS,
  LIST_TEMPLATES,
  LIST_TOOLS,
  READ_RESOURCE,
  SUBSCRIBE_RESOURCE,
  UNSUBSCRIBE_RESOURCE,
  UPDATE_TASK,
} from '../../kernel/methods.ts';
import { DEFAULT_LIMITS } from '../../kernel/base/limits.ts';
import { systemClock } from '../../kernel/base/clock.ts';
import { refuseShort } from '../../kernel/crypto/state-keys.ts';
import { cancelledBy } from '../../kernel/base/cancelled-error.ts';
import { GatewayError, toError } from '../../kernel/base/errors.ts';
import type { HttpHandler } from '../../kernel/base/http.ts';
import { mergeFamilies } from '../../kernel/base/metric.ts';
import type { Family } from '../../kernel/base/metric.ts';
import { atOnce } from '../../kernel/base/stray-promises.ts';
import { Changes } from './changes.ts';
import { complete } from './completion.ts';
import { ScopeSet } from './definition-registry.ts';
import { toPage } from './list-pages.ts';
import { ServerPrompts } from './prompts.ts';
import { ServerResources } from './resources.ts';
import { ServerTools } from './tools.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type * as Types from './types.ts';
import type { RequestHandler } from './request-handler.ts';

/** What a module can add to a server. */
interface Extension {
  /** Handlers by method. */
  methods: Readonly<Record<string, RequestHandler>>;
  /** Whether it asks users, also those whose clients cannot ask them. */
  asks?: boolean;
  /** Added to the capabilities of the server. */
  capabilities?(client: ClientView): ServerCapabilities;
  /** A client is connected and can receive notifications, until the returned function is called. */
  attend?(watcher: Watcher): () => void;
  /** The server is about to listen on HTTP, where `identify` tells callers apart. Called for every port and endpoint. */
  reached?(): void;
  /** Metrics for /metrics. */
  metrics?(): Promise<Family[]>;
  /** Paths that anyone with the URL can open. */
  pages?: Readonly<Record<string, HttpHandler>>;
  /** Called when the server closes. */
  close?(): Promise<void>;
}

type ServerArea = 'tools' | 'resources' | 'prompts' | 'logging' | 'completions' | 'tasks';

const FLAGS: Required<Pick<ServerCapabilities, ServerArea>> = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
  completions: {},
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
};

type Method = { area: ServerArea; run: RequestHandler };

export class Server implements Target {
  readonly options: Types.ServerOptions;
  readonly info: Implementation;
  readonly instructions: string | undefined;
  readonly #changes = new Changes();
  readonly #tools: ServerTools;
  readonly #resources: ServerResources;
  readonly #prompts: ServerPrompts;
  readonly #tasks: Tasks;
  readonly #completable = new ScopeSet();
  readonly #methods: Map<string, Method>;
  readonly #extensions: Extension[] = [];
  #place: PagesHost | undefined;

  constructor(options: Types.ServerOptions) {
    refuseShort(options.keys);
    this.options = options;
    this.info = toInfo(options);
    this.instructions = options.instructions;
    const { clock = systemClock, taskGraceMs, pageSize } = options;
    this.#tasks = new Tasks({
      clock,
      limits: { ...DEFAULT_LIMITS, ...options.limits },
      tell: (change) => this.#changes.tell(change),
      taskGraceMs,
      toPage: (all, cursor) => toPage(all, cursor, pageSize),
    });
    this.#tools = new ServerTools(options, this.#changes, this.#tasks);
    this.#resources = new ServerResources(options, this.#changes);
    this.#prompts = new ServerPrompts(options, this.#changes);
    this.#methods = this.#toMethods();
  }

  tool<O extends StandardSchemaV1, I extends Types.Schema = JsonObject>(
    name: string,
    options: Types.ToolOptions<I, O> & { output: O },
    handler: Types.TypedToolHandler<Types.Output<I>, O>,
  ): Types.Registration;
  tool<I extends Types.Schema = JsonObject>(
    name: string,
    options: Types.ToolOptions<I, JsonObject>,
    handler: Types.ToolHandler<Types.Output<I>>,
  ): Types.Registration;
  tool(name: string, options: Types.ToolOptions, handler: Types.ToolHandler<never>): Types.Registration {
    return this.#tools.add(name, options, handler);
  }

  resource(uri: string, options: Types.ResourceOptions, read: Types.ResourceReader): Types.Registration {
    return this.#resources.add(uri, options, read);
  }

  template(uriTemplate: string, options: Types.TemplateOptions, read: Types.TemplateReader): Types.Registration {
    const registration = this.#resources.addTemplate(uriTemplate, options, read);
    if (options.complete !== undefined) this.#completable.add(options.only);
    return registration;
  }

  /** Resources that are not registered one by one. */
  resources(provider: Types.ResourceProvider): Types.Registration {
    return this.#resources.addProvider(provider);
  }

  prompt(name: string, options: Types.PromptOptions, get: Types.PromptGetter): Types.Registration {
    const registration = this.#prompts.add(name, options, get);
    if (options.complete !== undefined) this.#completable.add(options.only);
    return registration;
  }

  /** A tool whose calls, with their arguments, go to `answer` unchecked. */
  /** `taskTtlMs`: how long a task of it may live, if that is longer than other tasks. */
  answeredTool(
    name: string,
    options: Types.ToolOptions,
    answer: RequestHandler,
    { taskTtlMs }: { taskTtlMs?: number } = {},
  ): Types.Registration {
    return this.#tools.addAnswered(name, options, { answer, taskTtlMs });
  }

  hasTool(name: string, client: ClientView): boolean {
    return this.#tools.inputSchema(name, client) !== undefined;
  }

  extend(extension: Extension): void {
    this.#extensions.push(extension);
  }

  /** Metrics of its extensions. */
  async metrics(): Promise<Family[]> {
    const counted = await Promise.all(this.#extensions.map(async (extension) => extension.metrics?.() ?? []));
    return mergeFamilies(counted.flat());
  }

  /** Pages of its extensions, served besides MCP. */
  get open(): OpenPages | undefined {
    const pages = Object.assign({}, ...this.#extensions.map((extension) => extension.pages)) as OpenPages['pages'];
    if (Object.keys(pages).length === 0) return undefined;
    return { pages, servedAt: (place) => void (this.#place = place) };
  }

  /** The URL by which others reach it over HTTP; undefined if they cannot. */
  async baseUrl(): Promise<string | undefined> {
    return this.options.publicUrl ?? this.#place?.base();
  }

  /** Identifies the sender of a request for one of its pages; absent if that is unknown. */
  get identifyVisitor(): PagesHost['identify'] {
    return this.#place?.identify;
  }

  /** Whether a link to one of its pages is enough for a browser that `identifyVisitor` does not know. */
  get trustsLinks(): boolean {
    return this.#place?.trustsLinks ?? false;
  }

  protected get asks(): boolean {
    return this.#extensions.some(({ asks }) => asks === true);
  }

  protected reachExtensions(): void {
    for (const extension of this.#extensions) extension.reached?.();
  }

  protected async closeExtensions(): Promise<void> {
    await Promise.all(this.#extensions.map(async (extension) => extension.close?.()));
  }

  /** Notifies subscribers that this resource has changed. */
  touch(uri: string): void {
    this.#changes.tell({ kind: 'resource', uri, name: this.#resources.nameOf(uri) });
  }

  /** Sends a log message to every client that wants this level; within a call use `call.log`. */
  log(level: LoggingLevel, data: unknown, logger?: string): void {
    this.#changes.tell({ kind: 'log', entry: { level, data, logger } });
  }

  /** Registers and removes several definitions, reported as one change or not at all. */
  batch(work: () => void, options: { silent?: boolean } = {}): void {
    this.#changes.batch(() => atOnce('batch', work()), options);
  }

  /** Cancels and forgets all tasks, when the server closes. */
  dropTasks(): void {
    this.#tasks.clear();
  }

  capabilities(client: ClientView): ServerCapabilities {
    const capabilities: Record<string, unknown> = {};
    for (const area of Object.keys(FLAGS) as ServerArea[]) {
      if (this.#isUsed(area, client)) capabilities[area] = FLAGS[area];
      else if (this.#isDeclared(area)) capabilities[area] = {};
    }
    return Object.assign(capabilities, ...this.#extensions.map((extension) => extension.capabilities?.(client)));
  }

  watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    const leaving = [this.#changes.watch(listener)];
    for (const extension of watcher ? this.#extensions : []) {
      if (extension.attend) leaving.push(extension.attend(watcher!));
    }
    return () => leaving.forEach((leave) => leave());
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    return this.#tools.inputSchema(tool, client);
  }

  /** Returns synchronous results without a promise, as promises are most of the cost of a small call. */
  handle(exchange: Exchange): Types.MaybePromise<ResultObject> {
    const method = this.#methods.get(exchange.method);
    const extended = method ? undefined : this.#extended(exchange.method);
    if (extended) return extended(exchange);
    if (!method || !(this.#isUsed(method.area, exchange.client) || this.#isDeclared(method.area))) {
      throw new GatewayError('METHOD_NOT_FOUND', { method: exchange.method });
    }
    try {
      const result = method.run(exchange);
      return result instanceof Promise ? settle(result, exchange) : result;
    } catch (thrown) {
      throw toFailure(thrown, exchange);
    }
  }

  #extended(method: string): RequestHandler | undefined {
    const extension = this.#extensions.find(({ methods }) => Object.hasOwn(methods, method));
    return extension?.methods[method];
  }

  #isDeclared(area: ServerArea): boolean {
    return (this.options.declare ?? ['logging']).includes(area as 'logging');
  }

  /** Whether something is, or was, registered in the area for this client. */
  #isUsed(area: ServerArea, client: ClientView): boolean {
    if (area === 'tools') return this.#tools.isOffered(client);
    if (area === 'resources') return this.#resources.isOffered(client);
    if (area === 'prompts') return this.#prompts.isOffered(client);
    if (area === 'tasks') return this.#tools.hasTasks(client);
    return area === 'completions' && this.#completable.has(client);
  }

  #toMethods(): Map<string, Method> {
    const [tools, resources, prompts, tasks] = [this.#tools, this.#resources, this.#prompts, this.#tasks];
    const sources = { prompts: prompts.registry, templates: resources.templates };
    return new Map([
      ...inArea('tools', {
        [LIST_TOOLS]: (exchange) => tools.list(exchange),
        [CALL_TOOL]: (exchange) => tools.call(exchange),
      }),
      ...inArea('resources', {
        [LIST_RESOURCES]: (exchange) => resources.list(exchange),
        [LIST_TEMPLATES]: (exchange) => resources.listTemplates(exchange),
        [READ_RESOURCE]: (exchange) => resources.read(exchange),
        [SUBSCRIBE_RESOURCE]: (exchange) => resources.subscribe(exchange),
        [UNSUBSCRIBE_RESOURCE]: (exchange) => resources.unsubscribe(exchange),
      }),
      ...inArea('prompts', {
        [LIST_PROMPTS]: (exchange) => prompts.list(exchange),
        [GET_PROMPT]: (exchange) => prompts.get(exchange),
      }),
      ...inArea('completions', { [COMPLETE_ARGUMENT]: (exchange) => complete(sources, exchange) }),
      ...inArea('tasks', {
        [GET_TASK]: (exchange) => tasks.get(exchange),
        [GET_TASK_RESULT]: (exchange) => tasks.result(exchange),
        [UPDATE_TASK]: (exchange) => tasks.update(exchange),
        [CANCEL_TASK]: (exchange) => tasks.cancel(exchange),
        [LIST_TASKS]: (exchange) => tasks.list(exchange),
      }),
    ]);
  }
}

function inArea(area: ServerArea, methods: Record<string, RequestHandler>): [string, Method][] {
  return Object.entries(methods).map(([method, run]) => [method, { area, run }]);
}

async function settle(result: Promise<ResultObject>, exchange: Exchange): Promise<ResultObject> {
  try {
    return await result;
  } catch (thrown) {
    throw toFailure(thrown, exchange);
  }
}

/** A failure after the client gave up counts as cancelled. */
function toFailure(thrown: unknown, exchange: Exchange): Error {
  const error = toError(thrown);
  return error === thrown || !exchange.signal.aborted ? error : cancelledBy(exchange.signal, { cause: thrown });
}

function toInfo({ name, title, version, description, icons, websiteUrl }: Types.ServerOptions): Implementation {
  const optional = Object.entries({ title, description, icons, websiteUrl }).filter(([, value]) => value !== undefined);
  return { name, version, ...Object.fromEntries(optional) };
}
