// The tools of a server: registration, lists, calls and results. Checks arguments before a handler gets them. A handler's error goes to the
// model as its message; a stack never does. A result that breaks the tool's own output schema is a defect of the server and is not passed on.
import type { Tasks } from '../../mcp/tasks/tasks.ts';
import type { TaskWork } from '../../mcp/tasks/task-work.ts';
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import { toReason } from '../../kernel/json-schema.ts';
import type { SchemaVerdict } from '../../kernel/json-schema.ts';
import { readOptionalObject, readString, isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { CALL_TOOL } from '../../kernel/methods.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { ErrorCode } from '../../kernel/base/error-table.ts';
import { cancelledBy } from '../../kernel/base/cancelled-error.ts';
import { GatewayError, ProtocolError, messageOf } from '../../kernel/base/errors.ts';
import { ExchangeCall } from './call.ts';
import type { Changes } from './changes.ts';
import { DefinitionRegistry, toListEntry, ScopeSet } from './definition-registry.ts';
import type { Definition } from './definition-registry.ts';
import { toListResult } from './list-pages.ts';
import { toCheckedSchema } from './schema.ts';
import type { CheckedSchema } from './schema.ts';
import type { RequestHandler } from './request-handler.ts';
import type { Call, MaybePromise, Registration, ServerOptions, ToolHandler, ToolOptions } from './types.ts';

interface ToolEntry extends Definition {
  readonly input: CheckedSchema | undefined;
  readonly output: CheckedSchema | undefined;
  readonly task: ToolOptions['task'];
  readonly handler: ToolHandler<never>;
  /** Answers calls in place of the handler, and checks the arguments itself. */
  readonly answer?: RequestHandler | undefined;
  /** How long a task of it may live, if that is longer than other tasks. */
  readonly taskTtlMs?: number | undefined;
}

export class ServerTools {
  readonly #registry = new DefinitionRegistry<ToolEntry>('tool');
  readonly #options: ServerOptions;
  readonly #changes: Changes;
  readonly #tasks: Tasks;
  readonly #taskScopes = new ScopeSet();

  constructor(options: ServerOptions, changes: Changes, tasks: Tasks) {
    this.#options = options;
    this.#changes = changes;
    this.#tasks = tasks;
    changes.track('tools', this.#registry);
  }

  add(name: string, options: ToolOptions, handler: ToolHandler<never>): Registration {
    return this.#register(toEntry(name, options, handler));
  }

  addAnswered(name: string, options: ToolOptions, answering: Pick<ToolEntry, 'answer' | 'taskTtlMs'>): Registration {
    return this.#register({ ...toEntry(name, options, () => undefined), ...answering });
  }

  #register(entry: ToolEntry): Registration {
    const registration = this.#changes.register('tools', this.#registry, entry);
    if (entry.task !== undefined) this.#taskScopes.add(entry.only);
    return registration;
  }

  isOffered(client: ClientView): boolean {
    return this.#registry.isOffered(client);
  }

  /** Whether any tool may run as a task for this client. */
  hasTasks(client: ClientView): boolean {
    return this.#taskScopes.has(client);
  }

  inputSchema(name: string, client: ClientView): JsonObject | undefined {
    return this.#registry.find(name, client)?.listed['inputSchema'] as JsonObject | undefined;
  }

  list(exchange: Exchange): JsonObject {
    return toListResult('tools', this.#registry.listed(exchange.client), { exchange, options: this.#options });
  }

  call(exchange: Exchange): MaybePromise<ResultObject> {
    const name = readString(exchange.params, 'name');
    const tool = this.#registry.find(name, exchange.client);
    if (tool === undefined) throw new GatewayError('TOOL_NOT_FOUND', { name });
    const { answer } = tool;
    if (answer) return this.#orTask(tool, exchange, (own) => answer(own));
    const given = readOptionalObject(exchange.params, 'arguments') ?? {};
    const args = tool.input === undefined ? given : checked(given, tool.key, tool.input);
    return args instanceof Promise
      ? args.then((late) => this.#run(tool, late, exchange))
      : this.#run(tool, args, exchange);
  }

  #run(tool: ToolEntry, args: unknown, exchange: Exchange): MaybePromise<ResultObject> {
    return this.#orTask(tool, exchange, (own, say) =>
      runTool(tool, { args, exchange: own, call: new ExchangeCall(own, say) }),
    );
  }

  #orTask(
    tool: ToolEntry,
    exchange: Exchange,
    run: (own: Exchange, say?: (message: string) => void) => MaybePromise<ResultObject>,
  ): MaybePromise<ResultObject> {
    if (!mayBeTask(tool, exchange)) return run(exchange);
    const work: TaskWork<ResultObject> = async (own, say) => run(own, say);
    if (exchange.task?.requested === true) return this.#tasks.start(exchange, work, tool.taskTtlMs);
    return this.#tasks.maybeStart(exchange, { isRequired: tool.task === 'required', ttlMs: tool.taskTtlMs }, work);
  }
}

/** What the protocol advises since 2025-11-25. The interfaces of models refuse other names, and with them the whole request. */
const USABLE_NAME = /^[\w.-]{1,128}$/;
const NAME_RULE =
  'may have 1 to 128 of the letters A to Z and a to z, digits, "_", "-" and ".": models refuse other names';

function toEntry(name: string, options: ToolOptions, handler: ToolHandler<never>): ToolEntry {
  if (typeof name !== 'string' || name === '') {
    throw new GatewayError('BAD_OPTION', { option: 'tool name', reason: 'must be a string that is not empty' });
  }
  if (!USABLE_NAME.test(name))
    throw new GatewayError('BAD_OPTION', { option: `tool name ${JSON.stringify(name)}`, reason: NAME_RULE });
  const { input, output, annotations, task, only } = options;
  const checkedInput = input && toCheckedSchema(input, { side: 'input', option: `input of tool ${name}` });
  const checkedOutput = output && toCheckedSchema(output, { side: 'output', option: `output of tool ${name}` });
  const listed = toListEntry({ name }, options, {
    inputSchema: checkedInput?.json ?? { type: 'object' },
    outputSchema: checkedOutput?.json,
    annotations,
    execution: task && { taskSupport: task },
  });
  return { key: name, only, listed, input: checkedInput, output: checkedOutput, task, handler };
}

/** Most schemas check synchronously, and a needless promise would cost every call. */
function checked(args: JsonObject, tool: string, input: CheckedSchema): MaybePromise<unknown> {
  const verdict = input.check(args);
  return verdict instanceof Promise ? verdict.then((late) => accepted(late, tool)) : accepted(verdict, tool);
}

function accepted(verdict: SchemaVerdict, tool: string): unknown {
  if (verdict.problems === undefined) return verdict.value;
  const [first] = verdict.problems;
  throw new GatewayError('INVALID_ARGUMENTS', {
    tool,
    parameter: first?.path || 'arguments',
    error: first?.error ?? 'is not valid',
    reason: toReason(verdict.problems),
    missing: first?.missing ?? false,
  });
}

/** Whether the tool may run as a task and the client can follow it. */
function mayBeTask(tool: ToolEntry, { task, client }: Exchange): boolean {
  // A flow asks its user. In a task only the client itself can be asked, so a flow whose user is asked in another way runs as a task only
  // on request.
  if (tool.answer && task?.requested === false && client.assisted?.elicitation) return false;
  if (tool.task !== undefined && task !== undefined) return true;
  if (task?.requested === true) throw new GatewayError('METHOD_NOT_FOUND', { method: `${CALL_TOOL} as a task` });
  if (tool.task === 'required') throw new GatewayError('TASK_REQUIRED', { tool: tool.key });
  return false;
}

interface Run {
  args: unknown;
  exchange: Exchange;
  call: Call;
}

function runTool(tool: ToolEntry, run: Run): MaybePromise<JsonObject> {
  let returned: unknown;
  try {
    returned = tool.handler(run.args as never, run.call);
  } catch (thrown) {
    return toFailedResult(thrown, run.exchange);
  }
  return isThenable(returned) ? awaitTool(tool, run, returned) : toToolResult(returned, tool);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | undefined | null)?.then === 'function';
}

async function awaitTool(tool: ToolEntry, { exchange }: Run, pending: PromiseLike<unknown>): Promise<JsonObject> {
  let returned: unknown;
  try {
    returned = await pending;
  } catch (thrown) {
    return toFailedResult(thrown, exchange);
  }
  return toToolResult(returned, tool);
}

export function toToolResult(
  returned: unknown,
  tool: Pick<ToolEntry, 'key' | 'output'>,
): JsonObject | Promise<JsonObject> {
  const result = normalized(returned, tool.output);
  if (tool.output === undefined || result['isError'] === true) return withText(result);
  return checkedResult(result, tool.key, tool.output);
}

/** Leaves `content` out if it is still to be derived from the structured part. */
function normalized(returned: unknown, output: CheckedSchema | undefined): JsonObject {
  if (returned === undefined) return { content: [], isError: false };
  if (isObject(returned) && Array.isArray(returned['content'])) {
    if (typeof returned['isError'] === 'boolean') return returned;
    // V8 spreads after a first field ten times faster than before a last one, and every call comes through here.
    return 'isError' in returned ? { ...returned, isError: false } : { isError: false, ...returned };
  }
  const isContent = typeof returned === 'string' || Array.isArray(returned);
  if (!isContent || wantsOtherThanObject(output)) return { structuredContent: returned, isError: false };
  return { content: typeof returned === 'string' ? [toText(returned)] : returned, isError: false };
}

/** With an output schema for an array or a string, such a value is structured content. */
function wantsOtherThanObject(output: CheckedSchema | undefined): boolean {
  const type = output?.json['type'];
  return type !== undefined && type !== 'object';
}

function withText(result: JsonObject): JsonObject {
  if (result['content'] !== undefined) return result;
  return { content: [toText(JSON.stringify(result['structuredContent']))], ...result };
}

function toText(text: string): { type: 'text'; text: string } {
  return { type: 'text', text };
}

/** Sends the value as the schema transforms it. */
async function checkedResult(result: JsonObject, tool: string, output: CheckedSchema): Promise<JsonObject> {
  const given = result['structuredContent'];
  const verdict = await output.check(given);
  if (verdict.problems === undefined) return withText({ ...result, structuredContent: verdict.value });
  const reason = given === undefined ? 'there is no structured content' : toReason(verdict.problems);
  const cause = new Error(`The result of tool ${tool} does not match its output schema: ${reason}`);
  throw new GatewayError('INTERNAL', {}, { cause });
}

/** Errors of questions to the user, which the model should read. */
const OF_THE_CLIENT: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['ASK_REFUSED', 'ANSWER_INVALID']);

/** A result with `isError`, or throws if the error is not for the model. */
function toFailedResult(thrown: unknown, exchange: Exchange): JsonObject {
  if (exchange.signal.aborted) throw cancelledBy(exchange.signal, { cause: thrown });
  const isRefusal = thrown instanceof GatewayError && OF_THE_CLIENT.has(thrown.code);
  if (!isRefusal && (thrown instanceof GatewayError || thrown instanceof ProtocolError)) throw thrown;
  return { content: [toText(messageOf(thrown))], isError: true };
}
