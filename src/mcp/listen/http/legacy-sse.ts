// HTTP+SSE (2024-11-05). A GET on /sse opens the stream and names the URL to POST to; answers arrive on the stream. A
// POST on /sse without a body also opens a session, to which a GET then attaches. A POST with a body is handled as
// Streamable HTTP, because clients that probe send their first POST there.
import { GatewayError } from '../../../kernel/base/errors.ts';
import { RequestReader } from '../../wire/fast-messages.ts';
import { openingOf } from '../../eras/serve/detect.ts';
import { RECURRING } from '../../eras/meta.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import { callerOf } from '../identify.ts';
import { receiveBatchOrRefuse } from '../unusual-messages.ts';
import type { HttpSessions } from '../session/http-sessions.ts';
import type { SessionTable } from '../session/session-table.ts';
import { SseSession } from '../session/sse-session.ts';
import { answerError } from './refusals.ts';
import { answerJson, readRequestBody } from './http-post.ts';
import { SseResponse } from './sse-response.ts';
import { isJson } from './streamable-http.ts';
import type { HttpVisit } from './http-visit.ts';
import type { StreamableHttp } from './streamable-http.ts';

export class LegacySse {
  readonly #context: ServeContext;
  readonly #reader: RequestReader;
  readonly #streamable: StreamableHttp;
  readonly #sessions: SessionTable<SseSession>;

  constructor(context: ServeContext, streamable: StreamableHttp, sessions: HttpSessions) {
    this.#context = context;
    this.#reader = new RequestReader(context.limits, RECURRING);
    this.#streamable = streamable;
    this.#sessions = sessions.sse;
  }

  /** /sse */
  stream(visit: HttpVisit): void {
    const { method, headers } = visit.request;
    if (method === 'GET') this.#open(visit);
    else if (method === 'POST' && isEmpty(headers)) this.#create(visit);
    else if (method === 'POST') this.#streamable.handle(visit);
    else throw new GatewayError('HTTP_METHOD');
  }

  /** /message */
  message(visit: HttpVisit): void {
    const { request, response } = visit;
    if (request.method !== 'POST') throw new GatewayError('HTTP_METHOD');
    if (!isJson(request.headers['content-type'])) throw new GatewayError('WRONG_MEDIA_TYPE');
    const session = this.#find(visit);
    if (!session) throw new GatewayError('SESSION_MISSING');
    const { maxRequestBytes, maxHeldBytes } = this.#context.limits;
    const received = (body: string | GatewayError): void => {
      if (typeof body !== 'string') return answerError(response, body);
      session.from.identity = visit.identity;
      response.writeHead(202).end();
      const incoming = this.#reader.read(body);
      const take = (): void => {
        const outlet = visit.arrival === undefined ? session.outlet : { ...session.outlet, arrival: visit.arrival };
        if (incoming.kind === 'message') session.conversation.receive(incoming.message, outlet);
        else receiveBatchOrRefuse(session.conversation, incoming, outlet);
      };
      const opening = incoming.kind === 'message' ? openingOf(incoming.message) : undefined;
      const ready = session.conversation.dialect ? undefined : this.#context.target.ready?.(opening);
      if (ready) void ready.then(take);
      else take();
    };
    const budget = () => ({ response, owner: callerOf(visit), maxBytes: maxHeldBytes });
    readRequestBody(request, maxRequestBytes, received, budget);
  }

  #open(visit: HttpVisit): void {
    const session = this.#find(visit) ?? this.#add(visit);
    const stream = new SseResponse(this.#context, visit.response, { 'mcp-session-id': session.id });
    stream.write({ event: 'endpoint', data: endpointOf(visit, session) });
    session.attach(stream);
    stream.onClose(() => session.isCarriedBy(stream) && this.#sessions.remove(session));
  }

  #create(visit: HttpVisit): void {
    const session = this.#add(visit);
    const body = JSON.stringify({ sessionId: session.id, endpoint: endpointOf(visit, session) });
    answerJson(visit.response, 201, body, { 'mcp-session-id': session.id });
  }

  #add(visit: HttpVisit): SseSession {
    const session = new SseSession(this.#context, visit, (ended) => this.#sessions.remove(ended));
    this.#sessions.add(session, callerOf(visit));
    return session;
  }

  #find({ request, principal }: HttpVisit): SseSession | undefined {
    const named = new URLSearchParams(request.url!.split('?')[1]).get('sessionId');
    const id = named ?? (request.headers['mcp-session-id'] as string | undefined);
    return id === undefined ? undefined : this.#sessions.get(id, principal);
  }
}

/** Next to the path that the client called: an app may mount the endpoint under a prefix and remove it from `url`. */
function endpointOf({ request }: HttpVisit, session: SseSession): string {
  const { originalUrl = request.url! } = request as { originalUrl?: string };
  const path = originalUrl.split('?')[0]!;
  return `${path.slice(0, path.lastIndexOf('/'))}/message?sessionId=${session.id}`;
}

function isEmpty(headers: HttpVisit['request']['headers']): boolean {
  return headers['content-length'] === '0' || (!headers['content-length'] && !headers['transfer-encoding']);
}
