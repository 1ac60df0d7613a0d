// The requests of Streamable HTTP for what is not live here: a session of an earlier process or of another node, or a call that another node holds.
import { LOCAL } from '../../../kernel/base/anonymous.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { MISDIRECTED, OWNER_HEADER } from '../../../kernel/nodes/nodes.ts';
import type { ForwardedVisit, ForwardOutcome, Nodes } from '../../../kernel/nodes/nodes.ts';
import { isEndless } from '../../eras/stateless/serve-stateless.ts';
import type { ParsedInput } from '../../wire/json-rpc.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import type { SessionRecord } from '../durable/session-store.ts';
import type { HttpSession } from '../session/http-session.ts';
import type { HttpSessions } from '../session/http-sessions.ts';
import { searchSession } from './search-session.ts';
import type { SessionTable } from '../session/session-table.ts';
import { validityOf } from '../http/http-visit.ts';
import type { HttpVisit } from '../http/http-visit.ts';
import { requestIdIn } from '../http/http-post.ts';
import type { AcceptedTypes } from '../http/http-post.ts';
import { endCut, mayRepeat, toStreamOutlet } from './owned-elsewhere.ts';
import { endWhenInvalid, refuseRequest } from '../http/refusals.ts';

/** The session was given away: who asks for it gets it. */
const NOBODY = '';

/** A POST whose body was read. */
export interface ReceivedPost {
  visit: HttpVisit;
  body: string;
  incoming: ParsedInput;
  accepted: AcceptedTypes;
  /** What it is about has ended with its node. */
  isGone?: boolean;
}

/** What the owner of the sessions does. */
interface ReachParts {
  readonly context: ServeContext;
  readonly all: HttpSessions;
  readonly sessions: SessionTable<HttpSession>;
  bindingOf(visit: HttpVisit): string;
  restore(id: string, visit: HttpVisit, record: SessionRecord): HttpSession;
  parse(body: string): ParsedInput;
  /** Handles a request whose session is live here, if there is one. */
  read(visit: HttpVisit, body: string, accepted: AcceptedTypes): void;
  receive(visit: HttpVisit, incoming: ParsedInput, accepted: AcceptedTypes): void;
}

export class SessionReach {
  readonly #parts: ReachParts;

  constructor(parts: ReachParts) {
    this.#parts = parts;
  }

  /** Whether the session of the request is live here, if it names one. */
  isInReach({ request }: HttpVisit): boolean {
    const id = request.headers['mcp-session-id'] as string | undefined;
    return (
      id === undefined || !this.#parts.context.handshake || (this.#parts.sessions.has(id) && this.#parts.all.isSure)
    );
  }

  /** For requests without a body. */
  inReach(visit: HttpVisit, go: () => void): void {
    if (this.isInReach(visit)) return go();
    const reached = this.#reach(visit);
    if (!reached) return go();
    const gone = reached.then((kind) => {
      if (isOver(visit.response)) return; // a stream that is opened now would never hear of its end
      if (kind === 'here') go();
      else if (kind === 'cut') endCut(visit.response, undefined);
    });
    gone.catch((thrown: unknown) => refuseRequest(this.#parts.context, visit, thrown));
  }

  readLater(visit: HttpVisit, body: string, accepted: AcceptedTypes): void {
    try {
      const reached = this.#reach(visit, body);
      if (!reached) return this.#parts.read(visit, body, accepted);
      const read = reached.then((kind) => {
        if (kind === 'here') this.#parts.read(visit, body, accepted);
        else if (kind !== 'answered')
          return this.#lose({ visit, body, accepted, incoming: this.#parts.parse(body) }, kind);
        return undefined;
      });
      read.catch((thrown: unknown) => this.#refuseRead(visit, thrown, body));
    } catch (thrown) {
      this.#refuseRead(visit, thrown, body);
    }
  }

  #refuseRead(visit: HttpVisit, thrown: unknown, body: string): void {
    refuseRequest(this.#parts.context, visit, thrown, requestIdIn(this.#parts.parse(body)));
  }

  /** Makes the session live here, or passes the request on. Undefined if it is live here already. */
  #reach(visit: HttpVisit, body?: string): Promise<'here' | 'answered' | 'broken' | 'cut'> | undefined {
    const { nodes } = this.#parts.context;
    const { store } = this.#parts.all;
    const id = visit.request.headers['mcp-session-id'] as string;
    if (nodes) return this.#search(nodes, id, visit, body);
    const kept = store.takeOver(id, this.#parts.bindingOf(visit)) as SessionRecord | undefined;
    if (kept) this.#parts.restore(id, visit, kept);
    return undefined;
  }

  async #search(
    nodes: Nodes,
    id: string,
    visit: HttpVisit,
    body?: string,
  ): Promise<'here' | 'answered' | 'broken' | 'cut'> {
    const { all } = this.#parts;
    if (visit.request.hop && all.isDraining && all.store.isShared) {
      if (this.#isWorking(id)) return 'here';
      await all.giveAway(id, this.#parts.sessions);
      return toOwner(visit, NOBODY);
    }
    const { store } = all;
    if (this.#parts.sessions.has(id)) {
      if (await store.isOurs(id)) return 'here';
      this.#parts.all.lose(id);
    }
    const isSafe = body === undefined;
    if (body !== undefined && validityOf(visit)) this.#endWhenInvalid(visit, this.#parts.parse(body));
    if (isSafe && listens(visit)) all.passesOn(visit.response);
    const forward = (node: string): Promise<ForwardOutcome> => nodes.forward(node, toForward(visit, body));
    const found = await searchSession({ ...this.#searchOf(nodes, id, visit), isSafe, forward });
    if (found.kind !== 'misdirected') return found.kind;
    return toOwner(visit, found.owner);
  }

  #isWorking(id: string): boolean {
    return (this.#parts.sessions.peek(id)?.conversation.inFlight ?? 0) > 0;
  }

  #searchOf(nodes: Nodes, id: string, visit: HttpVisit) {
    const parts = this.#parts;
    return {
      id,
      binding: parts.bindingOf(visit),
      nodes,
      store: parts.all.store,
      clock: parts.context.clock,
      isHop: visit.request.hop !== undefined,
      isOver: () => isOver(visit.response),
      restore(record: SessionRecord): void {
        if (!parts.sessions.has(id)) parts.restore(id, visit, record).conversation.tellMissed();
      },
    };
  }

  /** A client without a session: what it calls is at another node. */
  passOn(post: ReceivedPost, owner: string): void {
    const { visit, body, incoming, accepted } = post;
    this.#endWhenInvalid(visit, incoming);
    const passed = this.#parts.context.nodes!.forward(owner, toForward(visit, body)).then(({ kind }) => {
      if (kind === 'answered') return undefined;
      if (kind === 'broken' || kind === 'cut') return this.#lose({ ...post, isGone: true }, kind);
      return this.#parts.receive(visit, incoming, accepted); // nothing is known here, and the client learns that
    });
    passed.catch((thrown: unknown) => refuseRequest(this.#parts.context, visit, thrown, requestIdIn(incoming)));
  }

  /** The other node cannot watch the key or token, which this one has checked. */
  #endWhenInvalid(visit: HttpVisit, incoming: ParsedInput): void {
    if (incoming.kind === 'message' && isEndless(incoming.message))
      endWhenInvalid(this.#parts.context, validityOf(visit), visit.response);
  }

  /** The node was lost that had the request: what may be repeated is, once. */
  async #lose({ visit, body, accepted, incoming, isGone }: ReceivedPost, kind: 'broken' | 'cut'): Promise<void> {
    const { target } = this.#parts.context;
    const canRepeat = !isGone && (await mayRepeat(target, incoming, visit.principal ?? LOCAL).catch(() => false));
    if (kind === 'cut') return canRepeat ? this.#repeatInStream(visit, incoming) : endCut(visit.response, incoming);
    if (!canRepeat) throw new GatewayError('OWNER_LOST');
    const again = await this.#reach(visit, body);
    if (again === 'cut') return endCut(visit.response, incoming);
    if (again === 'broken') throw new GatewayError('OWNER_LOST');
    if (again !== 'answered') this.#parts.read(visit, body, accepted);
  }

  /** A part of the stream has been passed on, so the session must come here. */
  async #repeatInStream(visit: HttpVisit, incoming: ParsedInput): Promise<void> {
    const { sessions, context } = this.#parts;
    const { request, response, principal } = visit;
    const id = request.headers['mcp-session-id'] as string;
    const stay = { isSafe: true, forward: () => Promise.resolve({ kind: 'unsent' } as const) };
    try {
      await searchSession({ ...this.#searchOf(context.nodes!, id, visit), ...stay });
      const session = sessions.find(id, principal);
      if (!session || incoming.kind !== 'message') return endCut(response, incoming);
      session.conversation.receive(incoming.message, toStreamOutlet(response));
    } catch {
      endCut(response, incoming); // it has been told that the request is lost
    }
  }
}

/** Says where the request belongs that was forwarded here. */
function toOwner({ response }: HttpVisit, owner: string): 'answered' {
  response.writeHead(MISDIRECTED, { [OWNER_HEADER]: owner, 'content-length': 0 }).end();
  return 'answered';
}

function toForward({ request, response, principal, identity, access }: HttpVisit, body?: string): ForwardedVisit {
  return { request, response, principal, identity, resource: access?.resource, body };
}

/** It opens the stream of a session. */
function listens({ request }: HttpVisit): boolean {
  return request.method === 'GET' && String(request.headers.accept).includes('text/event-stream');
}

function isOver({ destroyed, writableEnded }: HttpVisit['response']): boolean {
  return destroyed || writableEnded;
}
