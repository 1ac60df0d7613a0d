// Requests for what another node has: where the id of its owner stands, and what the client gets if that node is lost.
import { InternalExchange } from '../../../kernel/internal-exchange.ts';
import { isObject, isRequest, toErrorMessage } from '../../../kernel/message.ts';
import type { JsonObject, Message, RequestMessage } from '../../../kernel/message.ts';
import { CALL_TOOL, LIST_TOOLS, PING_PEER, methodsWhere } from '../../../kernel/methods.ts';
import type { Nodes } from '../../../kernel/nodes/nodes.ts';
import type { Target } from '../../../kernel/target.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import { encode, toEncodedText, writeMessage } from '../../wire/json-rpc.ts';
import type { ParsedInput } from '../../wire/json-rpc.ts';
import type { Outlet } from '../../eras/serve/served-exchange.ts';
import { sessionClient } from '../../eras/own-clients.ts';
import { plainError } from '../../eras/plain-error.ts';

/** Sessions of HTTP+SSE; links of pages; what an authorization server sends back. */
const IN_QUERY = ['sessionId', 't', 'state'];
/** Calls that were answered with questions; tasks; sessions of MCP Flow. */
const IN_PARAMS = ['requestState', 'taskId', 'sessionId'];

export function ownerInQuery(nodes: Nodes, { url = '' }: Pick<HttpRequest, 'url'>): string | undefined {
  const at = url.indexOf('?');
  if (at === -1) return undefined;
  const query = new URLSearchParams(url.slice(at));
  for (const name of IN_QUERY) {
    const owner = nodes.ownerOf(query.get(name));
    if (owner !== undefined) return owner;
  }
  return undefined;
}

/** For a client without a session: one with a session is where that is. */
export function ownerInMessage(nodes: Nodes, incoming: ParsedInput): string | undefined {
  if (incoming.kind !== 'message' || !isRequest(incoming.message)) return undefined;
  const { params = {} } = incoming.message;
  for (const name of IN_PARAMS) {
    const owner = nodes.ownerOf(params[name]);
    if (owner !== undefined) return owner;
  }
  return isObject(params.arguments) ? nodes.ownerOf(params.arguments.handle) : undefined;
}

const SAFE: ReadonlySet<string> = new Set(methodsWhere(({ safe }) => safe));
const MAX_PAGES = 20;

/** The rule of the step `retry`: lists and reads, and tools that only read or do the same once and twice. */
export async function mayRepeat(target: Target, incoming: ParsedInput, principal: string): Promise<boolean> {
  if (incoming.kind !== 'message' || !isRequest(incoming.message)) return false;
  const { method, params } = incoming.message;
  if (method !== CALL_TOOL) return SAFE.has(method) || method === PING_PEER;
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const list = new InternalExchange(
      LIST_TOOLS,
      cursor === undefined ? {} : { cursor },
      sessionClient(target.info, principal),
    );
    const listed = (await target.handle(list)) as JsonObject;
    const tools = Array.isArray(listed.tools) ? (listed.tools as JsonObject[]) : [];
    const { annotations } = tools.find(({ name }) => name === params?.name) ?? {};
    if (isObject(annotations)) return annotations.readOnlyHint === true || annotations.idempotentHint === true;
    cursor = listed.nextCursor;
    if (cursor === undefined) return false;
  }
  return false;
}

/** Goes on with a stream that was cut: the answer to what is repeated comes on it. */
export function toStreamOutlet(response: HttpResponse): Outlet {
  const toEvent = (message: Message | Message[]): string =>
    `event: message\ndata: ${toEncodedText(encode(message))}\n\n`;
  return {
    send: (message) => void response.write(toEvent(message)),
    end: (answer) => void response.end(answer && toEvent(answer)),
    release: () => {},
  };
}

/** Ends a stream that was cut: clients that are too old to resume it learn it, too. */
export function endCut(response: HttpResponse, incoming: ParsedInput | undefined): void {
  if (response.writableEnded) return;
  const request = incoming?.kind === 'message' && isRequest(incoming.message) ? incoming.message : undefined;
  response.end(request && `event: message\ndata: ${writeMessage(toLostAnswer(request))}\n\n`);
}

function toLostAnswer({ id }: RequestMessage) {
  return toErrorMessage(id, plainError(new GatewayError('OWNER_LOST')));
}
