// A link to a server that exists once, at whichever node has it: HTTP to the internal port of that node, and one request there that stays open for as
// long as the node has the server.
// 1. A node that hands the server on finishes the calls that it has; later messages go to the next node.
// 2. A node that has lost the server, or has ended, loses its calls: the link closes, and who needs the server opens another one.
import { request as requestHttp } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { JoinedNodes } from '../../../kernel/nodes/nodes.ts';
import type { ServerLogin } from '../../../mcp/connect/accounts/server-login.ts';
import type { Link, LinkEvents, SendOptions } from '../../../mcp/connect/links/link.ts';
import { createHttpLink } from '../../../mcp/connect/links/streamable-http.ts';
import type { HttpLinkOptions } from '../../../mcp/connect/links/streamable-http.ts';
import { pathOfPlaced } from './placed-path.ts';

/** Where the server is, for as long as the node says so. */
export interface Attendance {
  readonly node: string;
  /** The node finishes what it has, and takes nothing more. */
  isLeaving: boolean;
  /** The node has the server no more. */
  isGone: boolean;
  /** Called once, then. */
  onGone: (() => void) | undefined;
  end(): void;
}

interface PlacedLinkParts extends Pick<HttpLinkOptions, 'limits' | 'log'> {
  name: string;
  nodes: JoinedNodes;
  /** Finds the server, now or soon. */
  attend(): Promise<Attendance>;
}

type Message = Parameters<Link['send']>[0];

const ANSWER_MS = 3000;

/** Undefined if the node does not answer, or has not the server. */
export async function attendAt(node: string, server: string, nodes: JoinedNodes): Promise<Attendance | undefined> {
  const path = `${pathOfPlaced(server)}/alive`;
  const hop = await nodes.hopTo(node, { method: 'GET', path });
  if (!hop) return undefined;
  const start = hop.url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve) => {
    const sent = start(new URL(path, hop.url), { headers: hop.headers, agent: false });
    const attendance: Attendance = {
      node,
      isLeaving: false,
      isGone: false,
      onGone: undefined,
      end: () => sent.destroy(),
    };
    const forget = nodes.onGone((gone) => void (gone === node && sent.destroy()));
    const gone = (): void => {
      forget();
      resolve(undefined);
      attendance.isGone = true;
      attendance.onGone?.();
      attendance.onGone = undefined;
    };
    sent.setTimeout(ANSWER_MS, () => sent.destroy());
    sent.on('error', gone).on('close', gone);
    sent.on('response', (answer: IncomingMessage) => {
      answer.on('error', () => {});
      if (answer.statusCode !== 200) return void sent.destroy();
      sent.setTimeout(0);
      answer.on('data', () => (attendance.isLeaving = true)).on('end', () => sent.destroy());
      resolve(attendance);
    });
    sent.end();
  });
}

export class PlacedLink implements Link {
  readonly kind = 'streamable-http';
  readonly name: string;
  readonly perRequestStreams = true;
  readonly #parts: PlacedLinkParts;
  #attendance: Attendance;
  #link: Link;
  /** At nodes that finish their calls. */
  readonly #former = new Set<Link>();
  #events: LinkEvents | undefined;
  #headers: Record<string, string> = {};
  #moving: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: PlacedLinkParts, attendance: Attendance) {
    this.#parts = parts;
    this.name = parts.name;
    this.#attendance = attendance;
    this.#link = this.#linkTo(attendance);
  }

  async start(events: LinkEvents): Promise<void> {
    this.#events = events;
    await this.#begin();
  }

  async send(message: Message, options?: SendOptions): Promise<void> {
    if (this.#attendance.isLeaving && !this.#isClosed) await (this.#moving ??= this.#move());
    return this.#link.send(message, options);
  }

  setHeaders(headers: Record<string, string>): void {
    this.#headers = { ...this.#headers, ...headers };
    this.#link.setHeaders?.(headers);
  }

  async close(): Promise<void> {
    await this.#end('closed');
  }

  /** Later messages go to the next node. */
  async #move(): Promise<void> {
    try {
      const attendance = await this.#parts.attend();
      if (this.#isClosed) return attendance.end();
      this.#former.add(this.#link);
      this.#attendance = attendance;
      this.#link = this.#linkTo(attendance);
      await this.#begin();
    } finally {
      this.#moving = undefined;
    }
  }

  async #begin(): Promise<void> {
    const [link, attendance, events] = [this.#link, this.#attendance, this.#events!];
    link.setHeaders?.(this.#headers);
    await link.start({
      onMessage: (...message) => events.onMessage(...message),
      onGarbage: (...garbage) => events.onGarbage(...garbage),
      onRelease: (...released) => events.onRelease?.(...released),
      onClose: () => {}, // the node says whether the server is there
    });
    attendance.onGone = () => this.#lost(link, attendance);
    if (attendance.isGone) attendance.onGone(); // before anybody asked
  }

  #lost(link: Link, { isLeaving }: Attendance): void {
    if (this.#former.delete(link)) void link.close();
    else if (!isLeaving) void this.#end(`the node that runs ${this.#parts.name} is gone`);
  }

  async #end(reason: string): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#attendance.end();
    const closed = [this.#link, ...this.#former].map((link) => link.close());
    this.#events?.onClose(reason);
    await Promise.all(closed);
  }

  #linkTo({ node }: Attendance): Link {
    const { name, nodes, limits, log } = this.#parts;
    const path = pathOfPlaced(name);
    const login = grantsFor(node, { name, nodes });
    return createHttpLink({ url: new URL(path, nodes.urlOf(node) ?? 'http://nowhere.invalid'), limits, log, login });
  }
}

/** Each request to a node needs a grant of its own. */
function grantsFor(node: string, { name, nodes }: Pick<PlacedLinkParts, 'name' | 'nodes'>): ServerLogin {
  const never = (): Promise<never> =>
    Promise.reject(new GatewayError('NOT_SUPPORTED', { server: name, what: 'a login' }));
  return {
    url: new URL('http://nowhere.invalid'),
    async headersFor(method, { pathname: path }) {
      const hop = await nodes.hopTo(node, { method, path });
      if (hop) return hop.headers;
      throw new GatewayError('UPSTREAM_UNREACHABLE', { server: name, reason: 'the node that runs it is gone' });
    },
    refused: () => Promise.resolve(false),
    accepted: () => {},
    hasFreshTokens: () => Promise.resolve(false),
    begin: never,
    lastRedirectUrl: () => Promise.resolve(undefined),
    end: () => Promise.resolve(),
    settle: () => Promise.resolve(false),
  };
}
