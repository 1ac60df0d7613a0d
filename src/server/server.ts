// A server as its author uses it, and as the target of exchanges. Knows no transport, dialect or revision. The methods are in tools.ts,
// resources.ts, prompts.ts and completion.ts.
import type { Implementation, LoggingLevel, ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from '../protocol/exchange.ts';
import type { JsonObject } from '../protocol/message.ts';
import type { OpenPages, PagesHost, Change, Target, Watcher } from '../protocol/target.ts';
import type { ResultObject } from '../protocol/raw/raw-object.ts';
import { systemClock } from '../shared/clock.ts';
import { refuseShort } from '../shared/crypto/state-keys.ts';
import { GatewayError } from '../shared/errors.ts';
import { DEFAULT_LIMITS } from '../shared/limits.ts';
import { toError } from '../shared/to-error.ts';
import { isDeclared, toCapabilities } from './areas.ts';
import type { ServerArea } from './areas.ts';
import { Changes } from './changes.ts';
import { complete } from './completion.ts';
import type { RequestHandler, Extension } from './extension.ts';
import { toPage } from './list-pages.ts';
import { ServerPrompts } from './prompts.ts';
import { ServerResources } from './resources.ts';
import { ScopeSet } from './scope.ts';
import { TaskStore } from '../gateway/tasks/task-store.ts';
import type { Task } from '../gateway/tasks/task.ts';
import { Tasks } from '../gateway/tasks/tasks.ts';
import { mergeFamilies } from '../shared/metric.ts';
import type { Family } from '../shared/metric.ts';
import { ServerTools } from './tools.ts';
import type * as Types from './types.ts';

type Method = { area: ServerArea; run: RequestHandler };

export class Server implements Target {
  readonly options: Types.ServerOptions;
  readonly info: Implementation;
  readonly instructions: string | undefined;
  readonly #changes = new Changes();
  readonly #tools: ServerTools;
  readonly #resources: ServerResources;
  readonly #prompts: ServerPrompts;
  readonly #taskStore: TaskStore;
  readonly #completable = new ScopeSet();
  readonly #methods: Map<string, Method>;
  readonly #extensions: Extension[] = [];
  #place: PagesHost | undefined;

  constructor(options: Types.ServerOptions) {
    refuseShort(options.keys);
    this.options = options;
    this.info = toInfo(options);
    this.instructions = options.instructions;
    this.#taskStore = new TaskStore({
      clock: options.clock ?? systemClock,
      limits: { ...DEFAULT_LIMITS, ...options.limits },
      tell: (change) => this.#changes.tell(change),
    });
    const { clock, taskGraceMs, pageSize } = options;
    const toTasksPage = (all: readonly Task[], cursor: string | undefined) => toPage(all, cursor, pageSize);
    const tasks = new Tasks(this.#taskStore, { clock, taskGraceMs, toPage: toTasksPage });
    this.#tools = new ServerTools(options, this.#changes, tasks);
    this.#resources = new ServerResources(options, this.#changes);
    this.#prompts = new ServerPrompts(options, this.#changes);
    this.#methods = new Map([...this.#toMethods(), ...toTaskMethods(tasks)]);
  }

  tool<I extends Types.Schema = JsonObject, O extends Types.Schema = Types.Schema>(
    name: string,
    options: Types.ToolOptions<I, O>,
    handler: Types.ToolHandler<Types.Output<I>>,
  ): Types.Registration {
    return this.#tools.add(name, options as Types.ToolOptions, handler);
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
  answeredTool(name: string, options: Types.ToolOptions, answer: RequestHandler): Types.Registration {
    return this.#tools.addAnswered(name, options, answer);
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
    this.#changes.batch(work, options);
  }

  /** Cancels and forgets all tasks, when the server closes. */
  dropTasks(): void {
    this.#taskStore.clear();
  }

  capabilities(client: ClientView): ServerCapabilities {
    const own = toCapabilities(this.options, (area) => this.#isUsed(area, client));
    return this.#extensions.reduce((all, extension) => ({ ...all, ...extension.capabilities?.(client) }), own);
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
    if (method === undefined || !this.#offers(method.area, exchange.client)) {
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

  #offers(area: ServerArea, client: ClientView): boolean {
    return this.#isUsed(area, client) || isDeclared(this.options, area);
  }

  #isUsed(area: ServerArea, client: ClientView): boolean {
    if (area === 'tools') return this.#tools.isOffered(client);
    if (area === 'resources') return this.#resources.isOffered(client);
    if (area === 'prompts') return this.#prompts.isOffered(client);
    if (area === 'tasks') return this.#tools.hasTasks(client);
    return area === 'completions' && this.#completable.has(client);
  }

  #toMethods(): [string, Method][] {
    const [tools, resources, prompts] = [this.#tools, this.#resources, this.#prompts];
    const sources = { prompts: prompts.catalogue, templates: resources.templates };
    return [
      ['tools/list', { area: 'tools', run: (exchange) => tools.list(exchange) }],
      ['tools/call', { area: 'tools', run: (exchange) => tools.call(exchange) }],
      ['resources/list', { area: 'resources', run: (exchange) => resources.list(exchange) }],
      ['resources/templates/list', { area: 'resources', run: (exchange) => resources.listTemplates(exchange) }],
      ['resources/read', { area: 'resources', run: (exchange) => resources.read(exchange) }],
      ['resources/subscribe', { area: 'resources', run: (exchange) => resources.subscribe(exchange) }],
      ['resources/unsubscribe', { area: 'resources', run: (exchange) => resources.unsubscribe(exchange) }],
      ['prompts/list', { area: 'prompts', run: (exchange) => prompts.list(exchange) }],
      ['prompts/get', { area: 'prompts', run: (exchange) => prompts.get(exchange) }],
      ['completion/complete', { area: 'completions', run: (exchange) => complete(sources, exchange) }],
    ];
  }
}

function toTaskMethods(tasks: Tasks): [string, Method][] {
  const area = 'tasks';
  return [
    ['tasks/get', { area, run: (exchange) => tasks.get(exchange) }],
    ['tasks/result', { area, run: (exchange) => tasks.result(exchange) }],
    ['tasks/update', { area, run: (exchange) => tasks.update(exchange) }],
    ['tasks/cancel', { area, run: (exchange) => tasks.cancel(exchange) }],
    ['tasks/list', { area, run: (exchange) => tasks.list(exchange) }],
  ];
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
  return error === thrown || !exchange.signal.aborted ? error : new GatewayError('CANCELLED', {}, { cause: thrown });
}

function toInfo({ name, title, version, description, icons, websiteUrl }: Types.ServerOptions): Implementation {
  const optional = Object.entries({ title, description, icons, websiteUrl }).filter(([, value]) => value !== undefined);
  return { name, version, ...Object.fromEntries(optional) };
}
