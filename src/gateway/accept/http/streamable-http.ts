// Streamable HTTP at /mcp, for both eras: POST, and for sessions of the handshake era GET (event stream or long poll) and
// DELETE. Which era a POST belongs to is decided by the dialects; here are the rules of HTTP around it.
import type { JsonObject, Message, RequestId } from '../../../protocol/message.ts';
import { isNotification, isRequest } from '../../../protocol/message.ts';
import { Alarms } from '../../../shared/alarms.ts';
import { CONNECTION_CLOSED } from '../../../shared/cancellation.ts';
import { GatewayError } from '../../../shared/errors.ts';
import type { HttpRequest, HttpResponse } from '../../../shared/http.ts';
import type { Incoming } from '../../codec/json-rpc.ts';
import { RequestReader } from '../../codec/request-reader.ts';
import { Conversation } from '../../dialect/serve/conversation.ts';
import { isStatelessMessage, openingOf } from '../../dialect/serve/detect.ts';
import type { Front } from '../../dialect/serve/front.ts';
import { RECURRING } from '../../dialect/recurring.ts';
import { checkOpeningVersion, checkSessionVersion } from '../../dialect/serve/session-version.ts';
import { hearStateless } from '../../dialect/stateless/hear.ts';
import { isEndless, serveStateless } from '../../dialect/stateless/serve.ts';
import { answerError, answerJson, answerThrown } from './answer.ts';
import { callerOf } from '../caller.ts';
import { enter, viaOf } from '../enter.ts';
import { readAccept } from './media.ts';
import type { Accepted } from './media.ts';
import { PostOutlet } from './post-outlet.ts';
import { readBody } from './read-body.ts';
import { receiveIn, refuse } from '../receive.ts';
import { SessionKeeper } from '../kept/session-keeper.ts';
import type { SessionName } from '../kept/session-keeper.ts';
import { Session } from '../session/session.ts';
import { SessionTable } from '../session/session-table.ts';
import { SseResponse } from './sse-response.ts';

/** One HTTP request on its way through the endpoint. */
export interface Visit {
  request: HttpRequest;
  response: HttpResponse;
  /** From the `identify` hook. */
  principal: string | undefined;
  claims?: JsonObject | undefined;
}

type OneMessage = Extract<Incoming, { kind: 'message' }>;

export class StreamableHttp {
  readonly #front: Front;
  readonly #reader: RequestReader;
  readonly #sessions: SessionTable<Session>;
  /** Lets sessions go on in the next process. */
  readonly #keeper: SessionKeeper | undefined;
  readonly #part: string;
  /** One timer for the silence of all answers. */
  readonly #silence: Alarms;

  constructor(front: Front, whole?: { keeper: SessionKeeper | undefined; part: string }) {
    this.#front = front;
    // Without lasting keys there is nothing that a later process could open.
    this.#keeper = whole ? whole.keeper : front.sealer.durable ? new SessionKeeper(front) : undefined;
    this.#part = whole?.part ?? '';
    this.#reader = new RequestReader(front.limits, RECURRING);
    this.#sessions = new SessionTable(front.limits, front.clock);
    this.#silence = new Alarms(front.clock);
  }

  /** Another target on the same port, whose sessions are its own. */
  part(front: Front, name: string): StreamableHttp {
    return new StreamableHttp(front, { keeper: this.#keeper, part: name });
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** Throws GatewayError for what HTTP itself refuses. */
  handle(visit: Visit): void {
    const { method } = visit.request;
    if (method === 'POST') this.post(visit);
    else if (!this.#front.handshake) throw new GatewayError('HTTP_METHOD'); // where there are no sessions
    else if (method === 'GET') this.#get(visit);
    else if (method === 'DELETE') this.#delete(visit);
    else throw new GatewayError('HTTP_METHOD');
  }

  post(visit: Visit): void {
    const { request, response } = visit;
    const accepted = readAccept(request.headers.accept);
    if (!accepted.json && !accepted.stream) {
      throw new GatewayError('NOT_ACCEPTABLE', { reason: 'accept application/json, text/event-stream' });
    }
    if (!isJson(request.headers['content-type'])) throw new GatewayError('WRONG_MEDIA_TYPE');
    readBody(request, this.#front.limits.maxRequestBytes, (body) => {
      if (typeof body !== 'string') return answerError(response, body);
      const incoming = this.#reader.read(body);
      const via = viaOf(this.#front, incoming);
      if (via.length === 0) return this.#receive(visit, incoming, accepted);
      try {
        enter(this.#front, via, () => this.#receive(visit, incoming, accepted));
      } catch (thrown) {
        answerThrown(this.#front, response, thrown, idOf(incoming));
      }
    });
  }

  #receive(visit: Visit, incoming: Incoming, accepted: Accepted): void {
    const opening = asksWhatIsOffered(incoming);
    const ready = opening && this.#front.target.ready?.(openingOf(opening));
    if (ready) void ready.then(() => this.#answer(visit, incoming, accepted));
    else this.#answer(visit, incoming, accepted);
  }

  #answer(visit: Visit, incoming: Incoming, accepted: Accepted): void {
    try {
      this.take(visit, incoming, accepted);
    } catch (thrown) {
      answerThrown(this.#front, visit.response, thrown, idOf(incoming));
    }
  }

  close(): void {
    this.#silence.clear();
    this.#sessions.close();
    if (this.#part === '') this.#keeper?.close();
  }

  take(visit: Visit, incoming: Incoming, accepted: Accepted): void {
    const { headers } = visit.request;
    const sessionId = headers['mcp-session-id'] as string | undefined;
    const session = sessionId !== undefined && this.#knows(sessionId, visit);
    const versionHeader = headers['mcp-protocol-version'] as string | undefined;
    const isMessage = incoming.kind === 'message' && this.#front.stateless;
    if (isMessage && isStatelessMessage(incoming.message, { session, versionHeader }))
      this.#stateless(visit, incoming, accepted);
    else if (sessionId === undefined) this.#opening(visit, incoming, accepted);
    else this.#inSession(visit, incoming, accepted, sessionId);
  }

  #stateless(
    { request, response, principal = 'local', claims }: Visit,
    { message }: OneMessage,
    accepted: Accepted,
  ): void {
    if (!accepted.stream && isEndless(message))
      throw new GatewayError('NOT_ACCEPTABLE', { reason: 'accept text/event-stream' });
    const outlet = new PostOutlet(this.#front, response, accepted);
    if (!isRequest(message)) {
      if (isNotification(message)) hearStateless(this.#front, message, principal);
      return outlet.end();
    }
    const headers = (name: string) => request.headers[name] as string | undefined;
    const from = { transport: 'http', headers: request.headers, claims } as const;
    const running = serveStateless(this.#front, message, outlet, { principal, from, headers });
    // Closing the stream is how this era calls off a request.
    if (!running || outlet.ended) return;
    response.on('close', () => outlet.ended || running.cancel(CONNECTION_CLOSED));
    outlet.limitSilence(this.#silence);
  }

  /** Before there is a session: `initialize` opens one, ping and the like are answered, everything else is refused. */
  #opening(visit: Visit, incoming: Incoming, accepted: Accepted): void {
    if (incoming.kind === 'refused') return refuse(incoming, this.#outlet(visit, accepted));
    const message = incoming.kind === 'message' ? incoming.message : undefined;
    if (message && !isRequest(message)) throw new GatewayError('SESSION_MISSING');
    if (message?.method !== 'initialize') {
      checkOpeningVersion(visit.request.headers['mcp-protocol-version'] as string | undefined, this.#front);
      const nobody = new Conversation(this.#front, 'nobody', { send: () => {} }, { onExit: () => {} });
      return receiveIn(nobody, incoming, this.#outlet(visit, accepted));
    }
    const session = this.#create(visit, this.#keeper?.name(message.params ?? {}, this.#bindingOf(visit)));
    this.#sessions.add(session, callerOf(visit));
    receiveIn(session.conversation, incoming, this.#outlet(visit, accepted, session));
    if (session.conversation.wording) this.#keeper?.begin(session);
    else this.#sessions.remove(session); // refused: nothing was agreed on
  }

  #inSession(visit: Visit, incoming: Incoming, accepted: Accepted, sessionId: string): void {
    const session = this.#sessions.get(sessionId, visit.principal);
    checkSessionVersion(visit.request.headers['mcp-protocol-version'] as string | undefined, session.conversation);
    session.from.headers = visit.request.headers;
    session.from.claims = visit.claims;
    const outlet = this.#outlet(visit, accepted, session);
    outlet.request = idOf(incoming);
    const cameAt = session.lastSeen;
    receiveIn(session.conversation, incoming, outlet);
    outlet.limitSilence(this.#silence, cameAt);
  }

  #outlet({ response }: Visit, accepted: Accepted, session?: Session): PostOutlet {
    return new PostOutlet(this.#front, response, accepted, session);
  }

  #get(visit: Visit): void {
    const { request, response } = visit;
    const session = this.#find(visit);
    const accepted = readAccept(request.headers.accept);
    const lastEventId = request.headers['last-event-id'] as string | undefined;
    // Clients of event streams reconnect until the server says that there is nothing more.
    if (lastEventId !== undefined && session.hasNothingAfter(lastEventId)) response.writeHead(204).end();
    else if (accepted.stream) {
      const carrier = new SseResponse(this.#front, response, { 'mcp-session-id': session.id });
      session.listen(carrier, lastEventId).catch((cause: unknown) => {
        this.#front.log.error({ cause }, 'stream.resume');
        carrier.end();
      });
    } else if (accepted.json) {
      const stop = session.poll((texts) => {
        if (texts.length > 0) answerJson(response, 200, `[${texts.join(',')}]`);
        else if (!response.headersSent) response.writeHead(204).end();
      });
      response.on('close', stop);
    } else
      throw new GatewayError('NOT_ACCEPTABLE', { reason: 'accept text/event-stream, or application/json to poll' });
  }

  #delete(visit: Visit): void {
    this.#sessions.remove(this.#find(visit));
    visit.response.writeHead(204).end();
  }

  /** Whether it is here, or can be taken over from an earlier process. */
  #knows(id: string, visit: Visit): boolean {
    return this.#sessions.has(id, visit.principal) || this.#takeOver(id, visit);
  }

  #takeOver(id: string, visit: Visit): boolean {
    const kept = this.#keeper?.find(id, this.#bindingOf(visit));
    if (!kept) return false;
    const session = this.#create(visit, { id, key: kept.key });
    this.#sessions.add(session, callerOf(visit));
    this.#keeper!.takeOver(kept.key);
    try {
      session.conversation.restore(kept);
    } catch (error) {
      this.#front.log.warn({ error }, 'session.not-restored'); // such as a revision that is not spoken any more
      this.#sessions.remove(session);
    }
    return true;
  }

  #create({ principal: owner, claims, request }: Visit, name: SessionName | undefined): Session {
    return new Session(this.#front, {
      owner,
      from: { transport: 'http', headers: request.headers, claims },
      name,
      onExit: (session) => this.#sessions.remove(session),
      onEnd: ({ key }) => this.#keeper?.end(key),
      onSetting: (change, { key }) => this.#keeper?.change(key, change),
    });
  }

  #bindingOf({ principal }: Visit): string {
    return JSON.stringify([this.#part, principal ?? null]);
  }

  #find(visit: Visit): Session {
    const { request } = visit;
    const id = request.headers['mcp-session-id'] as string | undefined;
    if (id === undefined) throw new GatewayError('SESSION_MISSING');
    this.#knows(id, visit);
    const session = this.#sessions.get(id, visit.principal);
    checkSessionVersion(request.headers['mcp-protocol-version'] as string | undefined, session.conversation);
    return session;
  }
}

/** An error about a request must name it, wherever its id could be read. */
function idOf(incoming: Incoming): RequestId | null {
  if (incoming.kind === 'refused') return incoming.id;
  return incoming.kind === 'message' && isRequest(incoming.message) ? incoming.message.id : null;
}

/** The opening of either era: its answer says what the target can do. */
function asksWhatIsOffered(incoming: Incoming): Message | undefined {
  if (incoming.kind !== 'message' || !isRequest(incoming.message)) return undefined;
  const { method } = incoming.message;
  return method === 'initialize' || method === 'server/discover' ? incoming.message : undefined;
}

export function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType !== undefined && /^application\/json\s*(;|$)/i.test(contentType);
}
