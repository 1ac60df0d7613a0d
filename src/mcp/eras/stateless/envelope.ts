// The `_meta` envelope that makes a stateless request self-contained: version, client and capabilities. Nothing is
// remembered between requests.
import { TASKS_EXTENSION } from '../../../kernel/extensions.ts';
import type { ClientCapabilities, Implementation, LoggingLevel } from '@modelcontextprotocol/client';
import type { ClientConnection, ClientView } from '../../../kernel/exchange.ts';
import { isObject, MISSING, toInvalid } from '../../../kernel/message.ts';
import type { JsonObject, RequestMessage } from '../../../kernel/message.ts';
import { EncodedParams } from '../../../kernel/raw/encoded-params.ts';
import { writeExactly } from '../../../kernel/raw/exact-numbers.ts';
import type { OutgoingCall } from '../../../kernel/server-view.ts';
import { SmallMemo } from '../../../kernel/containers/memo.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { checkIntroductionSize } from '../introduction.ts';
import { isLogLevel } from '../notifications.ts';
import { META } from '../meta.ts';
import { isStateless, revisionNamed } from '../revisions.ts';

export interface Envelope {
  revision: string;
  capabilities: ClientCapabilities;
  info: Implementation;
  logLevel: LoggingLevel | undefined;
}

const UNNAMED: Implementation = { name: 'unknown', version: '0' };

/** Of `_meta` that clients repeat: the reader of requests hands out the same frozen object each time. */
const read = new SmallMemo<Envelope>();

/** Throws INVALID_PARAMS for a missing or malformed part, UNSUPPORTED_VERSION for an unsupported version. */
export function readEnvelope(request: Pick<RequestMessage, 'params'>, spoken: readonly string[]): Envelope {
  const meta = request.params?._meta;
  if (!isObject(meta)) throw toInvalid('_meta', '_meta with the request envelope is required');
  if (!Object.isFrozen(meta)) return checkEnvelope(meta, spoken);
  return read.get(meta, spoken) ?? read.keep(checkEnvelope(meta, spoken), meta, spoken);
}

function checkEnvelope(meta: JsonObject, spoken: readonly string[]): Envelope {
  const revision = meta[META.protocolVersion];
  if (typeof revision !== 'string') throw toInvalid(META.protocolVersion, MISSING);
  const capabilities = meta[META.clientCapabilities];
  if (!isObject(capabilities)) throw toInvalid(META.clientCapabilities, MISSING);
  checkIntroductionSize(capabilities, META.clientCapabilities);
  if (!spoken.includes(revision) || !isStateless(revision)) {
    throw new GatewayError('UNSUPPORTED_VERSION', { requested: revision, supported: statelessRevisions(spoken) });
  }
  return { revision, capabilities, info: readInfo(meta), logLevel: readLogLevel(meta) };
}

export function toClient(
  { revision, info, capabilities }: Envelope,
  principal: string,
  connection?: ClientConnection,
): ClientView {
  const { dialect, era } = revisionNamed(revision)!;
  // With what others add to it, so that V8 makes it in one piece.
  return {
    dialect,
    era,
    revision,
    info,
    capabilities,
    principal,
    connection,
    assisted: undefined,
    isUnproven: undefined,
  };
}

/** The stateless revisions among the supported ones, as `server/discover` lists them. */
export function statelessRevisions(spoken: readonly string[]): string[] {
  return spoken.filter(isStateless);
}

/** The client's name and version, optional and for display only. */
function readInfo(meta: JsonObject): Implementation {
  const info = meta[META.clientInfo];
  if (info === undefined) return UNNAMED;
  if (!isObject(info) || typeof info.name !== 'string' || typeof info.version !== 'string') {
    throw toInvalid(META.clientInfo, 'Must be an object with name and version');
  }
  checkIntroductionSize(info, META.clientInfo);
  return info as unknown as Implementation;
}

function readLogLevel(meta: JsonObject): LoggingLevel | undefined {
  const level = meta[META.logLevel];
  if (level === undefined || isLogLevel(level)) return level;
  throw toInvalid(META.logLevel, 'Unknown log level');
}

/** Who a request to a server comes from. */
export interface StatelessIdentity {
  info: Implementation;
  capabilities: ClientCapabilities;
  logLevel?: string | undefined;
}

export function toEnvelope(revision: string, { info, capabilities, logLevel }: StatelessIdentity): JsonObject {
  return {
    [META.protocolVersion]: revision,
    [META.clientInfo]: info,
    [META.clientCapabilities]: capabilities,
    ...(logLevel !== undefined && { [META.logLevel]: logLevel }),
  };
}

type Enveloped = Partial<Pick<OutgoingCall, 'trace' | keyof StatelessIdentity>>;

/** Writes the envelopes of our requests to a server; each names the client that the call is for. */
export class OutgoingEnvelope {
  readonly #revision: string;
  readonly #own: StatelessIdentity;
  /** Encoded once per client. */
  readonly #written = new SmallMemo<string>();

  /** `own` is the identity of calls that are made for no client. */
  constructor(revision: string, own: StatelessIdentity) {
    this.#revision = revision;
    this.#own = { ...own };
  }

  set logLevel(level: string) {
    this.#own.logLevel = level;
  }

  /** Puts params into their envelope. */
  around(params: JsonObject | undefined, call: Enveloped = {}, progressToken?: number): EncodedParams {
    const { info = this.#own.info, capabilities = this.#own.capabilities, logLevel = this.#own.logLevel } = call;
    if (!call.trace && params?._meta === undefined) {
      const token = progressToken === undefined ? '' : `,"progressToken":${progressToken}`;
      return new EncodedParams(params, `${this.#textFor(info, capabilities, logLevel)}${token}}`);
    }
    const own = isObject(params?._meta) ? params._meta : undefined;
    const envelope = toEnvelope(this.#revision, { info, capabilities, logLevel });
    const meta = { ...own, ...envelope, ...call.trace, progressToken };
    return new EncodedParams({ ...params, _meta: undefined }, writeExactly(meta));
  }

  /** The envelope as JSON without its last brace. */
  #textFor(info: Implementation, capabilities: ClientCapabilities, logLevel: string | undefined): string {
    const known = this.#written.get(info, capabilities, logLevel);
    if (known !== undefined) return known;
    const text = writeExactly(toEnvelope(this.#revision, { info, capabilities, logLevel })).slice(0, -1);
    return this.#written.keep(text, info, capabilities, logLevel);
  }
}

const tasked = new SmallMemo<ClientCapabilities>();

/** Capabilities to declare when tasks are followed. */
export function withTasks(capabilities: ClientCapabilities): ClientCapabilities {
  const known = tasked.get(capabilities);
  if (known) return known;
  const extensions = { ...capabilities.extensions, [TASKS_EXTENSION]: {} };
  return tasked.keep({ ...capabilities, extensions }, capabilities);
}
