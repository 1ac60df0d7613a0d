// A gateway, a server or steps with a client, within one process and without a port. Servers given as commands or URLs are started and
// connected as usual.
import type { Transport } from '@modelcontextprotocol/client';
import type { Client } from '../sdk/client/client.ts';
import { connect } from '../sdk/client/connect.ts';
import type { ConnectOptions } from '../sdk/client/types.ts';
import { createGateway } from '../gateway/gateway.ts';
import type { Gateway, GatewayOptions } from '../gateway/gateway.ts';
import type { ServerEntry } from '../gateway/server-entry.ts';
import type { JsonObject } from '../kernel/message.ts';
import type { Step, StepFunction } from '../kernel/step.ts';
import { createServer } from '../sdk/server/create-server.ts';
import type { ParleyServer } from '../sdk/server/create-server.ts';
import { createLog } from '../kernel/base/log.ts';
import type { Log } from '../kernel/base/log.ts';
import { memoryPair } from './memory-pair.ts';

interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  event: string;
  [field: string]: unknown;
}

export interface TestedGateway extends AsyncDisposable {
  readonly client: Client;
  readonly gateway: Gateway;
  /** What the gateway has logged, unless it was given a log. */
  readonly logged: readonly LogLine[];
  /** Connects another client, with its own options. */
  readonly connect: (options?: ConnectOptions) => Promise<Client>;
  /** Closes the clients, the gateway, and what the gateway started. */
  readonly close: () => Promise<void>;
}

/**
 * A client in front of a whole gateway, in one process. `client`: who calls, as in the options of `connect`.
 *
 * @example
 * ```ts
 * import { createServer } from 'mcp-parley';
 * import { filter } from 'mcp-parley/middleware';
 * import { testGateway } from 'mcp-parley/testing';
 *
 * const files = createServer({ name: 'files', version: '1.0.0' });
 * await using tested = await testGateway({ servers: { files }, steps: [filter({ deny: ['delete'] })] });
 * console.log(await tested.client.listTools(), tested.logged);
 * ```
 */
export async function testGateway(options: GatewayOptions, client: ConnectOptions = {}): Promise<TestedGateway> {
  const { log, logged } = collectLog();
  const gateway = createGateway({ log, ...options });
  const clients: Client[] = [];
  const join = async (who: ConnectOptions = {}): Promise<Client> => {
    const [ours, theirs] = memoryPair();
    await gateway.connect(theirs);
    const joined = await connect(ours, { log, ...who });
    clients.push(joined);
    return joined;
  };
  const close = async (): Promise<void> => {
    await Promise.all(clients.map((one) => one.close()));
    await gateway.close();
  };
  try {
    return { client: await join(client), gateway, logged, connect: join, close, [Symbol.asyncDispose]: close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** A server of `createServer` or of the official SDK. */
interface Connectable {
  connect(transport: Transport): Promise<unknown>;
}

export interface TestedServer extends AsyncDisposable {
  readonly client: Client;
  /** Ends the connection. The server stays yours and can be connected again. */
  readonly close: () => Promise<void>;
}

/**
 * A client in front of a server, in one process. `client`: who calls, as in the options of `connect`.
 *
 * @example
 * ```ts
 * import { createServer } from 'mcp-parley';
 * import { testServer } from 'mcp-parley/testing';
 *
 * const server = createServer({ name: 'clock', version: '1.0.0' });
 * server.tool('time', { description: 'The time' }, () => 'noon');
 * await using tested = await testServer(server, { revision: '2025-06-18' });
 * console.log(await tested.client.callTool('time'));
 * ```
 */
export async function testServer(server: Connectable, client: ConnectOptions = {}): Promise<TestedServer> {
  const [ours, theirs] = memoryPair();
  await server.connect(theirs);
  const joined = await connect(ours, client);
  const close = (): Promise<void> => joined.close();
  return { client: joined, close, [Symbol.asyncDispose]: close };
}

interface StepTest extends ConnectOptions {
  /** The server behind the steps. Default: one with the tools `echo`, `ask`, `count` and `fail`, a resource and a prompt. */
  server?: ServerEntry;
}

/** A request as it left the steps. */
interface PassedRequest {
  method: string;
  params: JsonObject;
}

export interface TestedStep extends TestedGateway {
  /** Requests that reached the server, in order, including those of the steps themselves. */
  readonly reached: readonly PassedRequest[];
}

type OneOrMore<T> = T | readonly T[];

/**
 * Steps between a client and a sample server, with what passes them. The other options say who calls, as for
 * `connect`.
 *
 * @example
 * ```ts
 * import { filter } from 'mcp-parley/middleware';
 * import { testStep } from 'mcp-parley/testing';
 *
 * await using tested = await testStep(filter({ deny: ['echo'] }));
 * console.log(await tested.client.listTools(), tested.reached);
 * ```
 */
export async function testStep(
  steps: OneOrMore<Step | StepFunction>,
  { server = sampleServer(), ...client }: StepTest = {},
): Promise<TestedStep> {
  const reached: PassedRequest[] = [];
  const tell: Step = {
    name: 'testStep',
    seesStarts: true,
    handle({ method, params }, next) {
      reached.push({ method, params: structuredClone(params) }); // a copy, as later changes must not show
      return next();
    },
  };
  const given = Array.isArray(steps) ? (steps as readonly (Step | StepFunction)[]) : [steps as Step | StepFunction];
  const tested = await testGateway({ servers: { server }, steps: [...given, tell] }, client);
  return { ...tested, reached };
}

const text = { type: 'object', properties: { text: { type: 'string' } } };
const to = { type: 'object', properties: { to: { type: 'integer', minimum: 0 } } };

/** The server behind a step under test: one tool for each kind of traffic. */
function sampleServer(): ParleyServer {
  const server = createServer({ name: 'sample', version: '1.0.0' });
  server.tool('echo', { description: 'Gives back its text', input: text }, (args) => String(args.text ?? ''));
  server.tool('ask', { description: 'Asks the user, and tells the answer', input: text }, async (args, call) => {
    const { action, content } = await call.ask.elicit({
      message: String(args.text ?? 'Well?'),
      schema: { answer: { type: 'string' } },
    });
    return action === 'accept' ? String(content?.answer ?? '') : action;
  });
  server.tool('count', { description: 'Counts, with progress and log messages', input: to }, (args, call) => {
    const end = Number(args.to ?? 3);
    for (let reached = 1; reached <= end; reached++) {
      call.progress(reached, end);
      call.log('info', `${reached}`);
    }
    return String(end);
  });
  server.tool('fail', { description: 'Fails', input: text }, (args) => {
    throw new Error(String(args.text ?? 'It failed'));
  });
  server.resource('sample://note', { name: 'note', mimeType: 'text/plain' }, () => 'A note');
  server.prompt('greet', { arguments: [{ name: 'name' }] }, ({ name }) => `Greet ${name ?? 'everybody'}`);
  return server;
}

/** A log that collects its lines. */
export function collectLog(): { log: Log; logged: LogLine[] } {
  const logged: LogLine[] = [];
  const log = createLog({ level: 'debug', write: (line) => logged.push(JSON.parse(line) as LogLine) });
  return { log, logged };
}
