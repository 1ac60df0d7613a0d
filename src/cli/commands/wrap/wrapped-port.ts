// The port of `parley wrap`: its pages and its announcement to other commands. Not loaded on stdio.
import { listenHttp } from '../../../gateway/accept/http/listen-http.ts';
import type { HttpListenOptions, HttpListening } from '../../../gateway/accept/http/listen-http.ts';
import { createLogin } from '../../../gateway/accept/login.ts';
import { splitPages } from '../../../gateway/accept/http/page-access.ts';
import { acceptStdio } from '../../../gateway/accept/stdio.ts';
import type { ServeContext } from '../../../gateway/dialect/serve/serve-context.ts';
import { healthPage } from '../../../gateway/observe/health.ts';
import type { UpstreamTarget } from '../../../gateway/upstream/upstream-target.ts';
import { announceGateway } from '../../running/state-file.ts';
import { chooseLogin } from '../../serving/login-options.ts';
import { createStatusPage, readStatus } from '../../running/status-page.ts';

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
