// Translates errors of a server into neutral ones, so that each client gets them in its own dialect. Every message of the server
// except "not found" is kept unchanged.
import type { Exchange } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import type { Spoken } from '../../kernel/era/era.ts';
import { CALL_METHODS, CALL_TOOL, GET_PROMPT, READ_RESOURCE } from '../../kernel/methods.ts';
import { fieldOf } from '../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { GatewayError, ProtocolError, toToolError } from '../../kernel/base/errors.ts';
import { META } from '../../mcp/eras/meta.ts';

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
const HEADER_MISMATCH = -32020;
const MISSING_CAPABILITY = -32021;
const UNSUPPORTED_VERSION = -32022;
/** How servers refuse an unknown name: with their own code or "invalid params", and words about it. */
const NAMED: Record<string, { own: number; words: RegExp; toCode: 'TOOL_NOT_FOUND' | 'PROMPT_NOT_FOUND' } | undefined> =
  {
    [CALL_TOOL]: { own: -32001, words: /tool/i, toCode: 'TOOL_NOT_FOUND' },
    [GET_PROMPT]: { own: -32003, words: /prompt/i, toCode: 'PROMPT_NOT_FOUND' },
  };
const UNKNOWN = /unknown|not found|does not exist|no such/i;

interface ErrorSource {
  name: string;
  /** Undefined until it is known. */
  spoken: Spoken | undefined;
}

export function toTargetError(thrown: unknown, exchange: Exchange, source: ErrorSource): unknown {
  const { name: server } = source;
  if (thrown instanceof ProtocolError) {
    return toNotFound(thrown, exchange, source) ?? toOwn(thrown, exchange, source) ?? thrown;
  }
  if (!(thrown instanceof GatewayError)) return thrown;
  const named = inNameOf(server, thrown);
  return exchange.method === CALL_TOOL ? toToolError(named, server) : named;
}

/** A Parley server names the missing capability in a failed result; a stateless client expects an error instead. */
export function checkCapability(result: ResultObject): ResultObject {
  if (fieldOf(result, 'isError') !== true) return result;
  const meta = fieldOf(result, '_meta');
  const requiredCapabilities = isObject(meta) ? meta[META.required] : undefined;
  if (!isObject(requiredCapabilities)) return result;
  const what = Object.keys(requiredCapabilities).join(', ');
  throw new GatewayError('CLIENT_CANNOT_BE_ASKED', { what, requiredCapabilities });
}

/** The error for a server that is not available; without a failure it is still starting. */
export function toAwayError(failure: Error | undefined, server: string): GatewayError {
  if (failure instanceof GatewayError) return inNameOf(server, failure);
  const reason = failure?.message ?? 'it is still starting';
  return new GatewayError('UPSTREAM_UNREACHABLE', { server, reason }, { cause: failure });
}

/** A connection knows only its command or URL, which several servers may share. */
function inNameOf(name: string, error: GatewayError): GatewayError {
  const { code, details, cause } = error;
  const { server } = details;
  if (!code.startsWith('UPSTREAM_') || typeof server !== 'string' || server === name) return error;
  if (server.startsWith(`${name} (`)) return error; // named by another target
  return new GatewayError(code, { ...details, server: `${name} (${server})` }, { cause });
}

/** Errors about our side of the connection, or about the client on whose behalf we call. */
function toOwn(error: ProtocolError, { method, client }: Exchange, source: ErrorSource): GatewayError | undefined {
  const { code, message, data } = error;
  const origin = { origin: error, dialect: source.spoken?.dialect };
  const { requiredCapabilities } = isObject(data) ? data : {};
  // For a call, "not found" may be about the tool or resource, so the server's message is kept.
  if (code === METHOD_NOT_FOUND && !CALL_METHODS.has(method))
    return new GatewayError('METHOD_NOT_FOUND', { method, ...origin });
  // A handshake server made with Parley also names the missing capability.
  const lacked = client.era.namesRefusals && code === INTERNAL_ERROR && isObject(requiredCapabilities);
  const isRefusal = source.spoken?.era.namesRefusals === true; // in other eras these codes are the server's own
  if ((isRefusal && code === MISSING_CAPABILITY) || lacked) {
    const what = Object.keys(isObject(requiredCapabilities) ? requiredCapabilities : {}).join(', ');
    return new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: what || message, requiredCapabilities, ...origin });
  }
  if (!isRefusal || (code !== HEADER_MISMATCH && code !== UNSUPPORTED_VERSION)) return undefined;
  return new GatewayError('UPSTREAM_INVALID', { server: source.name, reason: message }, { cause: error });
}

function toNotFound(
  error: ProtocolError,
  { method, params }: Exchange,
  { spoken }: ErrorSource,
): GatewayError | undefined {
  const { code, message, data } = error;
  const origin = { origin: error, dialect: spoken?.dialect };
  const { own, words, toCode } = NAMED[method] ?? {};
  if (toCode && (code === own || code === -32602) && UNKNOWN.test(message) && words?.test(message)) {
    return new GatewayError(toCode, { name: params.name, ...origin });
  }
  const named = isObject(data) && data.uri === params.uri;
  if (method === READ_RESOURCE && (code === -32002 || (code === -32602 && (named || UNKNOWN.test(message))))) {
    return new GatewayError('RESOURCE_NOT_FOUND', { uri: params.uri, ...origin });
  }
  return undefined;
}
