// Passes an HTTP request on to another node and its answer back, both as they come.
import { Agent, request as requestHttp } from 'node:http';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Agent as TlsAgent, request as requestHttps } from 'node:https';
import type { HttpResponse } from '../../../kernel/base/http.ts';
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
  HOP_HEADER,
  OWNER_HEADER,
]);
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

  forward(to: ForwardTarget, grant: string, visit: ForwardedVisit): Promise<ForwardOutcome> {
    const { request, body } = visit;
    const url = new URL(request.url!, to.url);
    const headers: OutgoingHttpHeaders = { ...without(request.headers), [HOP_HEADER]: grant };
    if (body !== undefined) headers['content-length'] = Buffer.byteLength(body);
    const isTls = url.protocol === 'https:';
    const [start, agent] = isTls ? [requestHttps, this.#agents.https] : [requestHttp, this.#agents.http];
    const sent = start(url, { method: request.method, headers, agent: to.isDraining ? false : agent, setHost: false });
    this.#note(to.node, sent);
    const outcome = passBack(sent, visit);
    if (body !== undefined || request.method === 'GET' || request.method === 'HEAD' || request.method === 'DELETE')
      sent.end(body);
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

function passBack(sent: ClientRequest, { response }: ForwardedVisit): Promise<ForwardOutcome> {
  return new Promise((resolve) => {
    let isConnected = false;
    const leave = (): void => void sent.destroy();
    const settle = (outcome: ForwardOutcome): void => {
      response.off('close', leave);
      resolve(outcome);
    };
    response.on('close', leave);
    sent.on('socket', (socket) => {
      if (!socket.connecting) return void (isConnected = true);
      socket.setTimeout(CONNECT_MS, () => void (isConnected || sent.destroy()));
      socket.once('connect', () => {
        isConnected = true;
        socket.setTimeout(0);
      });
    });
    sent.on('error', () => settle({ kind: response.destroyed ? 'answered' : isConnected ? 'broken' : 'unsent' }));
    sent.on('response', (answer) => {
      if (answer.headers[HOP_HEADER] === undefined) {
        answer.resume(); // another process has taken the place of the node
        return settle({ kind: 'unsent' });
      }
      const owner = answer.headers[OWNER_HEADER];
      if (answer.statusCode === MISDIRECTED && typeof owner === 'string') {
        answer.resume();
        return settle({ kind: 'elsewhere', owner });
      }
      passAnswer(answer, response, settle);
    });
  });
}

function passAnswer(answer: IncomingMessage, response: HttpResponse, settle: (outcome: ForwardOutcome) => void): void {
  response.writeHead(answer.statusCode!, without(answer.headers) as Record<string, string>);
  response.flushHeaders();
  const isStream = String(answer.headers['content-type']).startsWith('text/event-stream');
  answer.pipe(response, { end: false });
  answer.on('end', () => {
    response.end();
    settle({ kind: 'answered' });
  });
  answer.on('error', () => {
    if (isStream && !response.destroyed) return settle({ kind: 'cut' });
    response.destroy(); // a part of an answer must not look like all of it
    settle({ kind: 'answered' });
  });
}

function without(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.has(name)));
}
