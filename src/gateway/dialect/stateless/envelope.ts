// Reads the `_meta` envelope that makes a stateless request self-contained: version, client and capabilities. Nothing
// is remembered between requests.
import type { ClientCapabilities, Implementation, LoggingLevel } from '@modelcontextprotocol/client';
import type { ClientConnection, ClientView } from '../../../protocol/exchange.ts';
import type { JsonObject, RequestMessage } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { checkIntroductionSize } from '../speak/introduction.ts';
import { isLogLevel } from '../log-level.ts';
import { META } from '../meta.ts';
import { isStateless } from '../revisions.ts';

export interface Envelope {
  revision: string;
  capabilities: ClientCapabilities;
  info: Implementation;
  logLevel: LoggingLevel | undefined;
}

const UNNAMED: Implementation = { name: 'unknown', version: '0' };

/** Throws INVALID_PARAMS for a missing or malformed part, UNSUPPORTED_VERSION for an unsupported version. */
export function readEnvelope(request: Pick<RequestMessage, 'params'>, spoken: readonly string[]): Envelope {
  const meta = request.params?._meta;
  if (!isObject(meta)) throw missing('_meta', '_meta with the request envelope is required');
  const revision = meta[META.protocolVersion];
  if (typeof revision !== 'string') throw missing(META.protocolVersion);
  const capabilities = meta[META.clientCapabilities];
  if (!isObject(capabilities)) throw missing(META.clientCapabilities);
  checkIntroductionSize(capabilities, META.clientCapabilities);
  if (!spoken.includes(revision) || !isStateless(revision)) throw unsupportedVersion(revision, spoken);
  return { revision, capabilities, info: toInfo(meta), logLevel: toLogLevel(meta) };
}

export function toClient(
  { revision, info, capabilities }: Envelope,
  principal: string,
  connection?: ClientConnection,
): ClientView {
  return { dialect: 'stateless', revision, info, capabilities, principal, connection };
}

function unsupportedVersion(requested: string, spoken: readonly string[]): GatewayError {
  return new GatewayError('UNSUPPORTED_VERSION', { requested, supported: statelessRevisions(spoken) });
}

/** The stateless revisions among the supported ones, as `server/discover` lists them. */
export function statelessRevisions(spoken: readonly string[]): string[] {
  return spoken.filter(isStateless);
}

/** The client's name and version, optional and for display only. */
function toInfo(meta: JsonObject): Implementation {
  const info = meta[META.clientInfo];
  if (info === undefined) return UNNAMED;
  if (!isObject(info) || typeof info.name !== 'string' || typeof info.version !== 'string') {
    throw missing(META.clientInfo, 'Must be an object with name and version');
  }
  checkIntroductionSize(info, META.clientInfo);
  return info as unknown as Implementation;
}

function toLogLevel(meta: JsonObject): LoggingLevel | undefined {
  const level = meta[META.logLevel];
  if (level === undefined || isLogLevel(level)) return level;
  throw missing(META.logLevel, 'Unknown log level');
}

function missing(parameter: string, error = 'Required parameter missing'): GatewayError {
  return new GatewayError('INVALID_PARAMS', { parameter, error });
}
