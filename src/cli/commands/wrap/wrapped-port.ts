// The port of `parley wrap`: its pages, its welcome and its announcement to other commands. Not loaded on stdio.
import type { ListCalls } from '../../../mcp/listen/drain.ts';
import { listenHttp } from '../../../mcp/listen/http/listen-http.ts';
import type { HttpListenOptions, HttpListening, HttpPort } from '../../../mcp/listen/http/listen-http.ts';
import { splitPages } from '../../../mcp/listen/http/page-access.ts';
import { createLogin } from '../../../mcp/listen/login.ts';
import { acceptStdio } from '../../../mcp/listen/stdio.ts';
import type { ServeContext } from '../../../mcp/eras/serve/serve-context.ts';
import { healthPage } from '../../../mcp/listen/http/health.ts';
import type { UpstreamTarget } from '../../../gateway/servers/upstream-target.ts';
import { isSecret } from '../../../kernel/secrets/secret-shapes.ts';
import { DEFAULT_START_SECONDS } from '../../args/serving-commands.ts';
import type { WrapCommand } from '../../args/serving-commands.ts';
import { announceGateway } from '../../running/state-file.ts';
import { createStatusPage, readStatus } from '../../../gateway/servers/gateway-status.ts';
import { chooseLogin } from '../../serving/login-options.ts';
import type { OpenedPort } from '../../serving/serve-until-end.ts';
import { HIDDEN, toClientLines, toWelcomeLines } from '../../serving/welcome-lines.ts';
import type { ProgramStart, WelcomeOptions } from '../../serving/welcome-lines.ts';
import { uncoloured } from '../../terminal/print.ts';
import type { Printer } from '../../../kernel/command/printer.ts';

export class WrappedPort {
  readonly #front: ServeContext;
  readonly #servers: { name: string; target: UpstreamTarget }[];
  readonly #started = new Date().toISOString();
  /** The lines to paste into clients. */
  #lines: string[] = [];
  /** Asked of every client; undefined before the port is open. */
  #token: string | undefined;
  #port: HttpPort | undefined;

  constructor(front: ServeContext, target: UpstreamTarget) {
    this.#front = front;
    this.#servers = [{ name: target.name, target }];
  }

  async listen(options: HttpListenOptions): Promise<HttpListening> {
    const auth = chooseLogin({ host: options.host, open: options.open === true });
    this.#token = auth?.token;
    const login = auth && createLogin({ auth }, { ...this.#front, events: this.#front.hub });
    const status = createStatusPage(() => ({ servers: this.#servers }), this.#started);
    this.#port = await listenHttp(this.#front, {
      ...options,
      ...splitPages({ own: { '/status': status }, ours: { ...options.pages, '/healthz': healthPage }, open: {} }),
      ...(login && { login, identify: login.identify }),
    });
    return this.#port;
  }

  async drain(besides: ListCalls): Promise<void> {
    await this.#port?.drain(besides);
  }

  welcome(command: WrapCommand, { port, isChosen }: OpenedPort, print: Printer): void {
    const { host, open } = command;
    const { name } = this.#servers[0]!;
    const again = toWrapCommand(command);
    const what = { title: `in front of ${name}`, name, about: [], program: () => again };
    const said: WelcomeOptions = { host, open, token: this.#token, port, isChosen, print, ...what };
    this.#lines = toClientLines({ ...said, print: uncoloured(print) });
    print.line(toWelcomeLines(said).join('\n')); // one write: the first client waits for it
  }

  announce(url: string | undefined): () => void {
    return announceGateway({
      url,
      serves: `wrap ${this.#servers[0]!.name}`,
      asksToken: this.#token !== undefined,
      lines: () => this.#lines,
      status: () => readStatus({ servers: this.#servers }, this.#started),
      accept: async (socket) => acceptStdio(this.#front, { input: socket, output: socket }),
    });
  }
}

/** The words that start the same `parley wrap` again, for the entry of a client. Moves secrets into variables of that entry. */
export function toWrapCommand(command: WrapCommand): ProgramStart {
  const { server, typedHeaders, revision, startMs, isAsking, logCalls, log } = command;
  const env: Record<string, string> = {};
  const headers = typedHeaders.flatMap(([name, text]) => ['--header', `${name}: ${withVariables(name, text, env)}`]);
  if ('command' in server) {
    for (const [name, value] of Object.entries(server.env ?? {})) env[name] = isSecret(name, value) ? HIDDEN : value;
  }
  const options = [
    ...headers,
    ...(revision === undefined ? [] : ['--revision', revision]),
    ...(startMs === DEFAULT_START_SECONDS * 1000 ? [] : ['--start-timeout', String(startMs / 1000)]),
    ...(command.pins === undefined ? [] : ['--pins', command.pins]),
    ...(isAsking ? [] : ['--no-ask']),
    ...(logCalls ? ['--log-calls'] : []),
    ...(log === undefined ? [] : ['--log', log]),
  ];
  const rest = 'command' in server ? ['--', server.command, ...(server.args ?? [])] : [String(server.url)];
  return { words: ['wrap', ...options, ...rest], env };
}

/** Keeps typed variables; replaces a secret by a variable. */
function withVariables(header: string, text: string, env: Record<string, string>): string {
  const typed = [...text.matchAll(/\$\{([A-Za-z_]\w*)\}/g)].map(([, name]) => name!);
  for (const name of typed) env[name] = HIDDEN;
  if (typed.length > 0 || !isSecret(header, text)) return text;
  const name = header.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  env[name] = HIDDEN;
  return `\${${name}}`;
}
