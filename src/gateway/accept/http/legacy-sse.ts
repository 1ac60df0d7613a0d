// HTTP+SSE (2024-11-05): a GET on /sse opens the stream and is told where to POST; answers come on the stream. A POST on
// /sse without body opens a session too, which a GET then attaches to; one with a body is taken as Streamable HTTP, since
// clients that find out by trying POST there first.
import { anonymous } from '../../../shared/anonymous.ts';
import { ticksOf } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { randomId } from '../../../shared/crypto/ids.ts';
import { writeMessage } from '../../codec/json-rpc.ts';
import { RequestReader } from '../../codec/request-reader.ts';
import { toText } from '../../codec/written.ts';
import type { Written } from '../../codec/written.ts';
import { Conversation } from '../../dialect/serve/conversation.ts';
import { openingOf } from '../../dialect/serve/detect.ts';
import { RECURRING } from '../../dialect/recurring.ts';
import type { Front } from '../../dialect/serve/front.ts';
import type { Outlet } from '../../dialect/serve/outlet.ts';
import { answerError, answerJson } from './answer.ts';
import { callerOf } from '../caller.ts';
import { readBody } from './read-body.ts';
import { receiveIn } from '../receive.ts';
import { SessionTable } from '../session/session-table.ts';
import { SseResponse } from './sse-response.ts';
import { isJson } from './streamable-http.ts';
import type { StreamableHttp, Visit } from './streamable-http.ts';
import { Waiting } from '../session/waiting.ts';
import { written } from '../write-answer.ts';

export class LegacySse {
  readonly #front: Front;
  readonly #reader: RequestReader;
  readonly #streamable: StreamableHttp;
  readonly #sessions: SessionTable<SseSession>;

  constructor(front: Front, streamable: StreamableHttp) {
    this.#front = front;
    this.#reader = new RequestReader(front.limits, RECURRING);
    this.#streamable = streamable;
    this.#sessions = new SessionTable(front.limits, front.clock);
  }

  /** /sse */
  stream(visit: Visit): void {
    const { method, headers } = visit.request;
    if (method === 'GET') this.#open(visit);
    else if (method === 'POST' && isEmpty(headers)) this.#create(visit);
    else if (method === 'POST') this.#streamable.post(visit);
    else throw new GatewayError('HTTP_METHOD');
  }

  /** /message */
  message(visit: Visit): void {
    const { request, response } = visit;
    if (request.method !== 'POST') throw new GatewayError('HTTP_METHOD');
    if (!isJson(request.headers['content-type'])) throw new GatewayError('WRONG_MEDIA_TYPE');
    const session = this.#find(visit);
    if (!session) throw new GatewayError('SESSION_MISSING');
    readBody(request, this.#front.limits.maxRequestBytes, (body) => {
      if (typeof body !== 'string') return answerError(response, body);
      response.writeHead(202).end();
      const incoming = this.#reader.read(body);
      const take = (): void => receiveIn(session.conversation, incoming, session.outlet);
      const opening = incoming.kind === 'message' ? openingOf(incoming.message) : undefined;
      const ready = session.conversation.wording ? undefined : this.#front.target.ready?.(opening);
      if (ready) void ready.then(take);
      else take();
    });
  }

  close(): void {
    this.#sessions.close();
  }

  #open(visit: Visit): void {
    const session = this.#find(visit) ?? this.#add(visit);
    const stream = new SseResponse(this.#front, visit.response, { 'mcp-session-id': session.id });
    stream.write({ event: 'endpoint', data: endpointOf(visit, session) });
    session.attach(stream);
    stream.onClose(() => session.isCarriedBy(stream) && this.#sessions.remove(session));
  }

  #create(visit: Visit): void {
    const session = this.#add(visit);
    const body = JSON.stringify({ sessionId: session.id, endpoint: endpointOf(visit, session) });
    answerJson(visit.response, 201, body, { 'mcp-session-id': session.id });
  }

  #add(visit: Visit): SseSession {
    const session = new SseSession(this.#front, visit, (ended) => this.#sessions.remove(ended));
    this.#sessions.add(session, callerOf(visit));
    return session;
  }

  #find({ request, principal }: Visit): SseSession | undefined {
    const named = new URLSearchParams(request.url!.split('?')[1]).get('sessionId');
    const id = named ?? (request.headers['mcp-session-id'] as string | undefined);
    return id === undefined ? undefined : this.#sessions.get(id, principal);
  }
}

class SseSession {
  readonly id: string = randomId();
  readonly owner: string | undefined;
  readonly conversation: Conversation;
  readonly outlet: Outlet;
  lastSeen: number;
  readonly #front: Front;
  #stream: SseResponse | undefined;
  readonly #waiting: Waiting;

  constructor(front: Front, { principal: owner, claims, request }: Visit, onExit: (session: SseSession) => void) {
    this.#front = front;
    this.owner = owner;
    this.lastSeen = ticksOf(front.clock);
    this.#waiting = new Waiting(front);
    this.outlet = {
      send: (message) => this.#write(writeMessage(message)),
      end: (answer) => answer && this.#write(written(answer, front.log)),
      release: () => {},
    };
    const principal = owner ?? anonymous('session', this.id);
    this.conversation = new Conversation(front, principal, this.outlet, {
      onExit: () => onExit(this),
      from: { transport: 'sse', session: this.id, headers: request.headers, claims },
    });
  }

  get isBusy(): boolean {
    return this.#stream !== undefined || this.conversation.inFlight > 0;
  }

  isCarriedBy(stream: SseResponse): boolean {
    return this.#stream === stream;
  }

  /** A client that comes again has given up the stream it had. */
  attach(stream: SseResponse): void {
    const former = this.#stream;
    this.#stream = stream;
    former?.end();
    for (const text of this.#waiting.take()) stream.write({ event: 'message', data: text });
  }

  /** Its stream goes with the process, so nobody can go on with it. */
  end(): void {
    this.close();
  }

  close(): void {
    this.conversation.close();
    this.#stream?.end();
  }

  #write(data: Written): void {
    this.lastSeen = ticksOf(this.#front.clock);
    if (this.#stream) this.#stream.write({ event: 'message', data });
    else this.#waiting.push(toText(data));
  }
}

/** Beside the path that the client has called: an app may have mounted the endpoint under a prefix, which it takes off `url`. */
function endpointOf({ request }: Visit, session: SseSession): string {
  const { originalUrl = request.url! } = request as { originalUrl?: string };
  const path = originalUrl.split('?')[0]!;
  return `${path.slice(0, path.lastIndexOf('/'))}/message?sessionId=${session.id}`;
}

function isEmpty(headers: Visit['request']['headers']): boolean {
  return headers['content-length'] === '0' || (!headers['content-length'] && !headers['transfer-encoding']);
}
