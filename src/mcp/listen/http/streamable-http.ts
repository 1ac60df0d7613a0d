// Streamable HTTP at /mcp for both eras: POST, and for handshake sessions GET (event stream or long poll) and DELETE.
// The dialects decide which era a POST belongs to; this file applies the HTTP rules around it.
import { hasMeta, isNotification, isRequest, toErrorMessage } from '../../../kernel/message.ts';
import type { Message, RequestId, RequestMessage } from '../../../kernel/message.ts';
import { DISCOVER_SERVER, INITIALIZE } from '../../../kernel/methods.ts';
import { LOCAL } from '../../../kernel/base/anonymous.ts';
import { DeadlineList } from '../../../kernel/base/clock.ts';
import { CLIENT_GONE, CONNECTION_CLOSED } from '../../../kernel/base/cancellation.ts';
import { LinkedList, LinkedNode } from '../../../kernel/containers/linked-list.ts';
import { callSafely } from '../../../kernel/base/author-callback.ts';
import { GatewayError, toReadable } from '../../../kernel/base/errors.ts';
import { addressOf } from '../../../kernel/base/http.ts';
import { runUnlessVisited } from '../../../kernel/base/via.ts';
import type { ParsedInput } from '../../wire/json-rpc.ts';
import { RequestReader } from '../../wire/fast-messages.ts';
import { Conversation } from '../../eras/serve/conversation.ts';
import { isStatelessMessage, openingOf, checkOpeningVersion, checkSessionVersion } from '../../eras/serve/detect.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import { RECURRING, readMessageVia } from '../../eras/meta.ts';
import { plainError } from '../../eras/plain-error.ts';
import { receiveStatelessNotification, isEndless, serveStateless } from '../../eras/stateless/serve-stateless.ts';
import type { RunningRequest } from '../../eras/serve/running-request.ts';
import { callerOf } from '../identify.ts';
import { receiveBatchOrRefuse, answerRefusal } from '../unusual-messages.ts';
import type { SessionRecord } from '../durable/session-store.ts';
import { HttpSession } from '../session/http-session.ts';
import type { HttpSessions } from '../session/http-sessions.ts';
import type { SessionTable } from '../session/session-table.ts';
import { ownerInMessage } from '../elsewhere/owned-elsewhere.ts';
import { SessionReach } from '../elsewhere/session-reach.ts';
import { answerError, answerThrown, endWhenInvalid, refuseRequest } from './refusals.ts';
import { validityOf } from './http-visit.ts';
import type { HttpVisit } from './http-visit.ts';
import { readAccept, readRequestBody, PostOutlet, answerJson, requestIdIn } from './http-post.ts';
import type { AcceptedTypes } from './http-post.ts';
import { SseResponse } from './sse-response.ts';

type OneMessage = Extract<ParsedInput, { kind: 'message' }>;

export class StreamableHttp {
  readonly #context: ServeContext;
  readonly #reader: RequestReader;
  readonly #sessions: SessionTable<HttpSession>;
  readonly #all: HttpSessions;
  readonly #part: string;
  readonly #reach: SessionReach;
  /** One timer for the silence of all answers. */
  readonly #silence: DeadlineList;
  /** Requests without a session that are in flight; those of a session are with it. */
  readonly #posts = new LinkedList<OpenPost>();

  /** `part`: the path below /mcp, which has sessions of its own. */
  constructor(context: ServeContext, sessions: HttpSessions, part = '') {
    this.#context = context;
    this.#all = sessions;
    this.#part = part;
    this.#sessions = sessions.at(part);
    this.#reader = new RequestReader(context.limits, RECURRING);
    this.#silence = new DeadlineList(context.clock);
    this.#reach = new SessionReach({
      context,
      all: sessions,
      sessions: this.#sessions,
      bindingOf: (visit) => this.#bindingOf(visit),
      restore: (id, visit, record) => this.#restore(id, visit, record),
      parse: (body) => this.#reader.read(body),
      read: (visit, body, accepted) => this.#read(visit, body, accepted),
      receive: (visit, incoming, accepted) => this.#receive(visit, incoming, accepted),
    });
  }

  /** Throws GatewayError for requests that HTTP itself refuses. */
  handle(visit: HttpVisit): void {
    const { method } = visit.request;
    if (method === 'POST') this.#post(visit);
    else if (!this.#context.handshake) throw new GatewayError('HTTP_METHOD'); // stateless servers have no sessions
    else if (method === 'GET') this.#reach.inReach(visit, () => this.#get(visit));
    else if (method === 'DELETE') this.#reach.inReach(visit, () => this.#delete(visit));
    else throw new GatewayError('HTTP_METHOD');
  }

  #post(visit: HttpVisit): void {
    const { request, response } = visit;
    const accepted = readAccept(request.headers.accept);
    if (!accepted.json && !accepted.stream) {
      throw new GatewayError('NOT_ACCEPTABLE', { reason: 'accept application/json, text/event-stream' });
    }
    if (!isJson(request.headers['content-type'])) throw new GatewayError('WRONG_MEDIA_TYPE');
    const { maxRequestBytes, maxHeldBytes } = this.#context.limits;
    const budget = () => ({ response, owner: callerOf(visit), maxBytes: maxHeldBytes });
    const received = (body: string | GatewayError): void => {
      if (typeof body !== 'string') return answerError(response, body);
      if (this.#reach.isInReach(visit)) this.#read(visit, body, accepted);
      else this.#reach.readLater(visit, body, accepted);
    };
    readRequestBody(request, maxRequestBytes, received, budget);
  }

  #read(visit: HttpVisit, body: string, accepted: AcceptedTypes): void {
    const { id, limits, nodes } = this.#context;
    const incoming = this.#reader.read(body);
    const owner = nodes && !visit.request.hop ? ownerInMessage(nodes, incoming) : undefined;
    if (owner !== undefined) return this.#reach.passOn({ visit, body, incoming, accepted }, owner);
    const isPlain = incoming.kind !== 'message' || !hasMeta(incoming.message);
    const via = isPlain || id === undefined ? undefined : readMessageVia(incoming.message);
    if (!via) return this.#receive(visit, incoming, accepted);
    try {
      runUnlessVisited(via, { id, maxHops: limits.maxHops }, () => this.#receive(visit, incoming, accepted));
    } catch (thrown) {
      answerThrown(this.#context, visit.response, thrown, requestIdIn(incoming));
    }
  }

  /** What is in flight, and what waits for an answer of its user. */
  *calls(): Iterable<object> {
    for (const post of this.#posts.values()) if (!post.isEndless) yield post;
    yield* this.#context.parked.values();
  }

  close(): void {
    this.#silence.clear();
    for (const post of this.#posts.values()) post.stop();
  }

  #receive(visit: HttpVisit, incoming: ParsedInput, accepted: AcceptedTypes): void {
    try {
      if (visit.access) checkCalls(visit, incoming);
      const session = this.#sessionOf(visit);
      if (session) this.#inSession(visit, incoming, accepted, session);
      else this.#onceOffered(visit, incoming, accepted);
    } catch (thrown) {
      refuseRequest(this.#context, visit, thrown, requestIdIn(incoming));
    }
  }

  /** Separate from `#receive`, because V8 would allocate the context of the closures for every request. */
  #onceOffered(visit: HttpVisit, incoming: ParsedInput, accepted: AcceptedTypes): void {
    const opening = asksWhatIsOffered(incoming);
    const ready = opening && this.#context.target.ready?.(openingOf(opening));
    if (!ready) return this.#withoutSession(visit, incoming, accepted);
    const taken = ready.then(() => this.#withoutSession(visit, incoming, accepted));
    taken.catch((thrown: unknown) => refuseRequest(this.#context, visit, thrown, requestIdIn(incoming)));
  }

  #withoutSession(visit: HttpVisit, incoming: ParsedInput, accepted: AcceptedTypes): void {
    const { headers } = visit.request;
    const evidence = { session: false, versionHeader: headers['mcp-protocol-version'] as string | undefined };
    const isMessage = incoming.kind === 'message' && this.#context.stateless;
    if (isMessage && isStatelessMessage(incoming.message, evidence)) this.#stateless(visit, incoming, accepted);
    else if (headers['mcp-session-id'] === undefined) this.#opening(visit, incoming, accepted);
    else throw new GatewayError('SESSION_NOT_FOUND');
  }

  #stateless(visit: HttpVisit, { message }: OneMessage, accepted: AcceptedTypes): void {
    const { request, response, principal = LOCAL, identity, arrival } = visit;
    if (!accepted.stream && isEndless(message))
      throw new GatewayError('NOT_ACCEPTABLE', { reason: 'accept text/event-stream' });
    const outlet = new PostOutlet(this.#context, response, accepted);
    outlet.arrival = arrival;
    if (!isRequest(message)) {
      if (isNotification(message)) receiveStatelessNotification(this.#context, message, principal);
      return outlet.end();
    }
    const headers = (name: string) => request.headers[name] as string | undefined;
    const address = addressOf(request);
    const from = { transport: 'http', headers: request.headers, identity, address } as const;
    if (isEndless(message)) endWhenInvalid(this.#context, validityOf(visit), response);
    const running = serveStateless(this.#context, message, outlet, { principal, from, headers });
    // In the stateless era, closing the stream cancels the request.
    if (!running || outlet.ended) return;
    const post = new OpenPost(message.id, outlet, running);
    this.#posts.add(post);
    response.on('close', () => {
      this.#posts.delete(post);
      if (!outlet.ended) running.cancel(CONNECTION_CLOSED);
    });
    outlet.limitSilence(this.#silence);
  }

  /**
   * A request without a session: `initialize` opens one, ping and the like are answered, everything else is refused.
   */
  #opening(visit: HttpVisit, incoming: ParsedInput, accepted: AcceptedTypes): void {
    const outlet = new PostOutlet(this.#context, visit.response, accepted);
    if (incoming.kind === 'refused') return answerRefusal(incoming, outlet);
    const message = incoming.kind === 'message' ? incoming.message : undefined;
    if (message && !isRequest(message)) throw new GatewayError('SESSION_MISSING');
    if (message?.method === INITIALIZE) return this.#initialize(visit, message, accepted);
    checkOpeningVersion(visit.request.headers['mcp-protocol-version'] as string | undefined, this.#context);
    const nobody = new Conversation(this.#context, 'nobody', { send: () => {} }, { onExit: () => {} });
    if (incoming.kind === 'message') nobody.receive(incoming.message, outlet);
    else receiveBatchOrRefuse(nobody, incoming, outlet);
  }

  #initialize(visit: HttpVisit, message: RequestMessage, accepted: AcceptedTypes): void {
    const opening = message.params ?? {};
    const { store } = this.#all;
    const session = this.#create(visit, store.name());
    this.#sessions.add(session, callerOf(visit));
    const outlet = new PostOutlet(this.#context, visit.response, accepted, session);
    outlet.isOpening = true;
    session.conversation.receive(message, outlet);
    if (!session.conversation.dialect) return this.#sessions.remove(session); // refused, so nothing was negotiated
    this.#later(() => store.begin(session.id, { binding: this.#bindingOf(visit), opening, subscriptions: new Set() }));
  }

  #inSession(visit: HttpVisit, incoming: ParsedInput, accepted: AcceptedTypes, session: HttpSession): void {
    const { headers } = visit.request;
    const { conversation } = session;
    const version = headers['mcp-protocol-version'] as string | undefined;
    // The negotiated revision was checked when the session began.
    if (version !== conversation.dialect?.client.revision) checkSessionVersion(version, conversation);
    session.from.headers = headers;
    session.from.identity = visit.identity;
    const outlet = new PostOutlet(this.#context, visit.response, accepted, session);
    outlet.incoming = incoming;
    outlet.arrival = visit.arrival;
    const cameAt = session.lastSeen;
    if (incoming.kind === 'message') conversation.receive(incoming.message, outlet);
    else receiveBatchOrRefuse(conversation, incoming, outlet);
    outlet.limitSilence(this.#silence, cameAt);
  }

  #get(visit: HttpVisit): void {
    const { request, response } = visit;
    const session = this.#find(visit);
    const accepted = readAccept(request.headers.accept);
    const lastEventId = request.headers['last-event-id'] as string | undefined;
    // EventSource clients reconnect until the server answers 204.
    if (lastEventId !== undefined && session.hasNothingAfter(lastEventId)) response.writeHead(204).end();
    else if (accepted.stream) {
      const carrier = new SseResponse(this.#context, response, { 'mcp-session-id': session.id });
      session.listen(carrier, lastEventId).catch((cause: unknown) => {
        this.#context.log.error({ cause }, 'stream.resume');
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

  #delete(visit: HttpVisit): void {
    const session = this.#find(visit);
    const ended = this.#all.store.end(session.id);
    this.#sessions.remove(session);
    if (ended) this.#answerLater(visit, ended);
    else visit.response.writeHead(204).end();
  }

  #answerLater(visit: HttpVisit, ended: Promise<void>): void {
    const answered = ended.then(() => visit.response.writeHead(204).end());
    answered.catch((thrown: unknown) => refuseRequest(this.#context, visit, thrown));
  }

  #sessionOf(visit: HttpVisit): HttpSession | undefined {
    const id = visit.request.headers['mcp-session-id'] as string | undefined;
    return id === undefined ? undefined : this.#sessions.find(id, visit.principal);
  }

  #restore(id: string, visit: HttpVisit, record: SessionRecord): HttpSession {
    const session = this.#create(visit, id);
    try {
      this.#sessions.add(session, callerOf(visit));
    } catch (full) {
      this.#later(() => this.#all.store.release([id]));
      throw full;
    }
    try {
      session.conversation.restore(record);
    } catch (error) {
      this.#context.log.warn({ error }, 'session.not-restored'); // for example, its revision is no longer supported
      this.#sessions.remove(session);
      throw new GatewayError('SESSION_NOT_FOUND');
    }
    session.isUsed = true;
    return session;
  }

  #create({ principal: owner, identity, request }: HttpVisit, id: string): HttpSession {
    const { store } = this.#all;
    return new HttpSession(this.#context, {
      owner,
      from: { transport: 'http', headers: request.headers, identity, address: addressOf(request) },
      id,
      onExit: (session) => this.#sessions.remove(session),
      onEnd: (session) => this.#later(() => store.end(session.id)),
      onSetting: (change, session) => store.change(session.id, change),
    });
  }

  /** What nobody waits for. While its state is away, a store does later what it could not do now. */
  #later(keep: () => void | Promise<void>): void {
    callSafely(keep, (thrown) => this.#context.log.warn({ error: toReadable(thrown) }, 'sessions.late'));
  }

  #bindingOf({ principal }: HttpVisit): string {
    return JSON.stringify([this.#part, principal ?? null]);
  }

  #find(visit: HttpVisit): HttpSession {
    const { headers } = visit.request;
    const session = this.#sessionOf(visit);
    if (!session)
      throw new GatewayError(headers['mcp-session-id'] === undefined ? 'SESSION_MISSING' : 'SESSION_NOT_FOUND');
    checkSessionVersion(headers['mcp-protocol-version'] as string | undefined, session.conversation);
    return session;
  }
}

/** A call that needs more than the key or token allows is answered with 403, so that the client can log in for it. */
function checkCalls({ identity, access }: HttpVisit, incoming: ParsedInput): void {
  if (!identity || !access?.login.checkCall) return;
  for (const message of messagesIn(incoming)) access.login.checkCall(message, identity, access.resource);
}

function messagesIn(incoming: ParsedInput): Message[] {
  if (incoming.kind === 'batch') return incoming.items.flatMap(messagesIn);
  return incoming.kind === 'message' ? [incoming.message] : [];
}

/** The opening message of either era, or a wish to listen: the answer says what the target offers. */
function asksWhatIsOffered(incoming: ParsedInput): Message | undefined {
  if (incoming.kind !== 'message' || !isRequest(incoming.message)) return undefined;
  const { message } = incoming;
  const { method } = message;
  return method === INITIALIZE || method === DISCOVER_SERVER || isEndless(message) ? message : undefined;
}

export function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType !== undefined && /^application\/json\s*(;|$)/i.test(contentType);
}

/** A stateless request in flight. */
class OpenPost extends LinkedNode<OpenPost> {
  readonly #id: RequestId;
  readonly #outlet: PostOutlet;
  readonly #running: RunningRequest;

  constructor(id: RequestId, outlet: PostOutlet, running: RunningRequest) {
    super();
    this.#id = id;
    this.#outlet = outlet;
    this.#running = running;
  }

  get isEndless(): boolean {
    return this.#running.endless === true;
  }

  /** Tells the client that the gateway stops. */
  stop(): void {
    const stopped = new GatewayError('GATEWAY_STOPPED');
    this.#outlet.end(toErrorMessage(this.#id, plainError(stopped)), stopped.row.status);
    this.#running.cancel(CLIENT_GONE);
  }
}
