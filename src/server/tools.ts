// The tools of a server: registered, listed, called. Arguments are checked before a handler sees them.
import type { ClientView, Exchange } from '../protocol/exchange.ts';
import type { JsonObject } from '../protocol/message.ts';
import { GatewayError } from '../shared/errors.ts';
import { ExchangeCall } from './call.ts';
import { Catalogue } from './catalogue.ts';
import type { Entry } from './catalogue.ts';
import type { Changes } from './changes.ts';
import { toListed } from './listed.ts';
import { toListResult } from './page.ts';
import { readOptionalObject, readString } from './params.ts';
import { toCheckedSchema, toReason } from './schema.ts';
import type { CheckedSchema, Problem, Verdict } from './schema.ts';
import { toFailedResult, toToolResult } from './tool-result.ts';
import type { Call, MaybePromise, Registration, ServerOptions, ToolHandler, ToolOptions } from './types.ts';

export interface ToolEntry extends Entry {
  readonly input: CheckedSchema | undefined;
  readonly output: CheckedSchema | undefined;
  readonly handler: ToolHandler<never>;
}

export class Tools {
  readonly #catalogue = new Catalogue<ToolEntry>('tool');
  readonly #options: ServerOptions;
  readonly #changes: Changes;

  constructor(options: ServerOptions, changes: Changes) {
    this.#options = options;
    this.#changes = changes;
    changes.track('tools', this.#catalogue);
  }

  add(name: string, options: ToolOptions, handler: ToolHandler<never>): Registration {
    return this.#changes.register('tools', this.#catalogue, toEntry(name, options, handler));
  }

  isOffered(client: ClientView): boolean {
    return this.#catalogue.isOffered(client);
  }

  inputSchema(name: string, client: ClientView): JsonObject | undefined {
    return this.#catalogue.find(name, client)?.listed['inputSchema'] as JsonObject | undefined;
  }

  list(exchange: Exchange): JsonObject {
    return toListResult('tools', this.#catalogue.listed(exchange.client), { exchange, options: this.#options });
  }

  async call(exchange: Exchange): Promise<JsonObject> {
    const name = readString(exchange.params, 'name');
    const tool = this.#catalogue.find(name, exchange.client);
    if (tool === undefined) throw new GatewayError('TOOL_NOT_FOUND', { name });
    const given = readOptionalObject(exchange.params, 'arguments') ?? {};
    const checking = tool.input === undefined ? given : checked(given, tool.key, tool.input);
    const args = checking instanceof Promise ? await checking : checking;
    return runTool(tool, { args, exchange, call: new ExchangeCall(exchange) });
  }
}

export interface Run {
  args: unknown;
  exchange: Exchange;
  call: Call;
}

export async function runTool(tool: ToolEntry, { args, exchange, call }: Run): Promise<JsonObject> {
  let returned: unknown;
  try {
    returned = await tool.handler(args as never, call);
  } catch (thrown) {
    return toFailedResult(thrown, exchange);
  }
  return toToolResult(returned, tool);
}

function toEntry(name: string, options: ToolOptions, handler: ToolHandler<never>): ToolEntry {
  if (typeof name !== 'string' || name === '') {
    throw new GatewayError('BAD_OPTION', { option: 'tool name', reason: 'must be a string that is not empty' });
  }
  const { input, output, annotations, only } = options;
  const checkedInput = input && toCheckedSchema(input, { side: 'input', option: `input of tool ${name}` });
  const checkedOutput = output && toCheckedSchema(output, { side: 'output', option: `output of tool ${name}` });
  const listed = toListed({ name }, options, {
    inputSchema: checkedInput?.json ?? { type: 'object' },
    outputSchema: checkedOutput?.json,
    annotations,
  });
  return { key: name, only, listed, input: checkedInput, output: checkedOutput, handler };
}

/** Most schemas answer at once; waiting for nothing would cost every call. */
function checked(args: JsonObject, tool: string, input: CheckedSchema): MaybePromise<unknown> {
  const verdict = input.check(args);
  return verdict instanceof Promise ? verdict.then((late) => accepted(late, tool)) : accepted(verdict, tool);
}

function accepted(verdict: Verdict, tool: string): unknown {
  if (verdict.problems === undefined) return verdict.value;
  throw toInvalidArguments(tool, verdict.problems);
}

function toInvalidArguments(tool: string, problems: Problem[]): GatewayError {
  const [first] = problems;
  return new GatewayError('INVALID_ARGUMENTS', {
    tool,
    parameter: first?.path || 'arguments',
    error: first?.error ?? 'is not valid',
    reason: toReason(problems),
    missing: first?.missing ?? false,
  });
}
