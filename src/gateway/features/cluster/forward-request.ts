// Passes an HTTP request on to another node and its answer back, both as they come.
import { Agent, request as requestHttp } from 'node:http';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Agent as TlsAgent, request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import { MISDIRECTED, OWNER_HEADER } from '../../../kernel/nodes/nodes.ts';
import type { ForwardedVisit, ForwardOutcome } from '../../../kernel/nodes/nodes.ts';
import { HOP_HEADER } from './hop-grants.ts';

/** Of a connection, not of a message; and what only a node may say. */
const OWN = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'proxy-connection',
  HOP_HEADER,
  OWNER_HEADER,
]);
/** A path, and no URL: the first slash starts no host. */
const ORIGIN_FORM = /^\/(?![/\\])/;
/** Node writes a body of these without saying where it ends, and the next request on the connection would be taken for it. */
const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);
const LEFT = ['close', 'finish'];
const CONNECT_MS = 2000;

interface ForwardTarget {
  node: string;
  url: string;
  /** It closes soon, and with it the connections that are kept. */
  isDraining: boolean;
}

export class Forwarder {
  /** Without a limit on sockets: open streams would keep calls waiting. */
  readonly #agents = { http: new Agent({ keepAlive: true }), https: new TlsAgent({ keepAlive: true }) };

  /** What is open, by node. */
  readonly #open = new Map<string, Set<ClientRequest>>();

  /** The node has ended, or does not answer any more: what it was given is lost. */
  abandon(node: string): void {
    for (const sent of this.#open.get(node) ?? []) sent.destroy(new Error('the node is gone'));
  }

  /** Throws for a target that could lead to another host than the node. */
  forward(to: ForwardTarget, grant: string, visit: ForwardedVisit): Promise<ForwardOutcome> {
    const { request, response, body } = visit;
    if (isOver(response)) return Promise.resolve({ kind: 'answered' });
    const path = request.url!;
    if (!ORIGIN_FORM.test(path))
      throw new GatewayError('INVALID_REQUEST', { reason: 'the target of a request must be a path' });
    const url = new URL(to.url);
    const headers: OutgoingHttpHeaders = { ...withoutOwn(request.headers), [HOP_HEADER]: grant };
    delete headers['content-length']; // of a body that may not be sent
    if (body !== undefined) headers['content-length'] = Buffer.byteLength(body);
    const isTls = url.protocol === 'https:';
    const [start, kept] = isTls ? [requestHttps, this.#agents.https] : [requestHttp, this.#agents.http];
    const agent = to.isDraining ? false : kept;
    const sent = start(url, { path, method: request.method, headers, agent, setHost: false });
    this.#note(to.node, sent);
    const outcome = passBack(sent, visit);
    if (body !== undefined || BODILESS.has(request.method!)) sent.end(body);
    else request.pipe(sent);
    return outcome;
  }

  #note(node: string, sent: ClientRequest): void {
    const open = this.#open.get(node) ?? new Set();
    this.#open.set(node, open.add(sent));
    sent.on('close', () => {
      if (open.delete(sent) && open.size === 0) this.#open.delete(node);
    });
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }
}

function passBack(sent: ClientRequest, { request, response }: ForwardedVisit): Promise<ForwardOutcome> {
  return new Promise((resolve) => {
    let isConnected = false;
    const settle = (outcome: ForwardOutcome): void => {
      forget();
      if (!sent.writableEnded) sent.destroy(); // nobody reads the rest of the body
      resolve(isOver(response) ? { kind: 'answered' } : outcome);
    };
    const leave = (): void => {
      settle({ kind: 'answered' });
      sent.destroy();
    };
    const forget = onLeave(request, response, leave);
    sent.on('socket', (socket) => {
      if (!socket.connecting) return void (isConnected = true);
      socket.setTimeout(CONNECT_MS, () => void (isConnected || sent.destroy()));
      socket.once('connect', () => {
        isConnected = true;
        socket.setTimeout(0);
      });
    });
    const fail = (error?: NodeJS.ErrnoException): void => {
      if (isConnected) settle({ kind: 'broken' });
      else settle({ kind: 'unsent', isRefused: error?.code === 'ECONNREFUSED' });
    };
    let isAnswered = false;
    sent.on('error', fail);
    sent.on('close', () => void (isAnswered || fail())); // such as an upgrade, which nobody asked for
    sent.on('response', (answer) => {
      isAnswered = true;
      takeAnswer(answer, response, settle);
    });
  });
}

type Settle = (outcome: ForwardOutcome) => void;

/** Nothing that a node sends may throw here: an event would carry it to the end of the process. */
function takeAnswer(answer: IncomingMessage, response: HttpResponse, settle: Settle): void {
  answer.on('error', ignore);
  if (answer.headers[HOP_HEADER] === undefined) {
    answer.resume(); // another process has taken the place of the node
    return settle({ kind: 'unsent' });
  }
  const owner = answer.headers[OWNER_HEADER];
  if (answer.statusCode === MISDIRECTED && typeof owner === 'string') {
    answer.resume();
    return settle({ kind: 'elsewhere', owner });
  }
  try {
    passAnswer(answer, response, settle);
  } catch {
    answer.destroy(); // no HTTP
    settle({ kind: 'broken' });
  }
}

function passAnswer(answer: IncomingMessage, response: HttpResponse, settle: Settle): void {
  response.writeHead(answer.statusCode!, withoutOwn(answer.headers) as Record<string, string>);
  response.flushHeaders();
  const isStream = String(answer.headers['content-type']).startsWith('text/event-stream');
  const leave = (): void => {
    answer.unpipe(response);
    answer.destroy();
    settle({ kind: 'answered' });
  };
  answer.on('data', () => void (isOver(response) && leave())); // before the pipe writes
  answer.pipe(response, { end: false });
  answer.on('end', () => {
    if (!response.writableEnded) response.end();
    settle({ kind: 'answered' });
  });
  answer.on('error', () => {
    if (isStream && !isOver(response)) return settle({ kind: 'cut' });
    response.destroy(); // a part of an answer must not look like all of it
    settle({ kind: 'answered' });
  });
}

/** Calls back once nobody waits for the answer any more: the client has left, or somebody else has ended the response. */
function onLeave(request: HttpRequest, response: HttpResponse, leave: () => void): () => void {
  // The response to a pipelined request has no connection yet, and hears nothing of its end.
  const socket = request.socket as Partial<Socket>;
  if (!response.listeners('error').includes(ignore)) response.on('error', ignore); // somebody has ended it just now
  for (const end of LEFT) response.on(end, leave);
  socket.on?.('close', leave);
  return () => {
    for (const end of LEFT) response.off(end, leave);
    socket.off?.('close', leave);
  };
}

function ignore(): void {}

function isOver({ destroyed, writableEnded }: HttpResponse): boolean {
  return destroyed || writableEnded;
}

function withoutOwn(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.has(name)));
}
