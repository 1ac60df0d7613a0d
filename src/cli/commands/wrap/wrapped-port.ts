// The port of `parley wrap`: its pages and its announcement to other commands. Not loaded on stdio.
import { listenHttp } from '../../../gateway/accept/http/listen-http.ts';
import type { HttpListenOptions, HttpListening } from '../../../gateway/accept/http/listen-http.ts';
import { splitPages } from '../../../gateway/accept/http/page-access.ts';
import { createLogin } from '../../../gateway/accept/login.ts';
import { acceptStdio } from '../../../gateway/accept/stdio.ts';
import type { ServeContext } from '../../../gateway/dialect/serve/serve-context.ts';
import { healthPage } from '../../../gateway/observe/health.ts';
import type { UpstreamTarget } from '../../../gateway/upstream/upstream-target.ts';
import { isSecret } from '../../../shared/secrets/secret-shapes.ts';
import { DEFAULT_START_SECONDS } from '../../args/serving-commands.ts';
import type { WrapCommand } from '../../args/serving-commands.ts';
import { announceGateway } from '../../running/state-file.ts';
import { createStatusPage, readStatus } from '../../running/status-page.ts';
import { chooseLogin } from '../../serving/login-options.ts';
import { HIDDEN } from '../../serving/welcome-lines.ts';
import type { ProgramStart } from '../../serving/welcome-lines.ts';

export class WrappedPort {
  readonly #front: ServeContext;
  readonly #servers: { name: string; target: UpstreamTarget }[];
  readonly #started = new Date().toISOString();
  /** The lines to paste into clients. */
  lines: string[] = [];
  #token: string | undefined;

  constructor(front: ServeContext, target: UpstreamTarget) {
    this.#front = front;
    this.#servers = [{ name: target.name, target }];
  }

  /** Asked of every client; undefined before the port is open. */
  get token(): string | undefined {
    return this.#token;
  }

  listen(options: HttpListenOptions): Promise<HttpListening> {
    const auth = chooseLogin({ host: options.host, open: options.open === true });
    this.#token = auth?.token;
    const login = createLogin({ auth }, this.#front);
    const status = createStatusPage(() => ({ servers: this.#servers }), this.#started);
    return listenHttp(this.#front, {
      ...options,
      ...splitPages({ own: { '/status': status }, ours: { ...options.pages, '/healthz': healthPage }, open: {} }),
      ...(login && { login, identify: login.identify }),
    });
  }

  announce(url: string | undefined): () => void {
    return announceGateway({
      url,
      serves: `wrap ${this.#servers[0]!.name}`,
      asksToken: this.#token !== undefined,
      lines: () => this.lines,
      status: () => readStatus({ servers: this.#servers }, this.#started),
      accept: async (socket) => acceptStdio(this.#front, { input: socket, output: socket }),
    });
  }
}

export function toWrapCommand({
  server,
  typedHeaders,
  revision,
  startMs,
  pins,
  isAsking,
  logCalls,
  log,
}: WrapCommand): ProgramStart {
  const env: Record<string, string> = {};
  const headers = typedHeaders.flatMap(([name, text]) => ['--header', `${name}: ${withVariables(name, text, env)}`]);
  if ('command' in server) {
    for (const [name, value] of Object.entries(server.env ?? {})) env[name] = isSecret(name, value) ? HIDDEN : value;
  }
  const options = [
    ...headers,
    ...(revision === undefined ? [] : ['--revision', revision]),
    ...(startMs === DEFAULT_START_SECONDS * 1000 ? [] : ['--start-timeout', String(startMs / 1000)]),
    ...(pins === undefined ? [] : ['--pins', pins]),
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
