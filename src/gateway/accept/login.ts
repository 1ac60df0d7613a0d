// The login that `auth` describes. What it needs is loaded with the first request. A program's own `identify` does not pass through here.
import type { Clock } from '../../shared/clock.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { HttpHandler } from '../../shared/http.ts';
import type { RecordAudit } from '../../protocol/audit.ts';
import type { Identity } from '../../protocol/exchange.ts';
import type { Message } from '../../protocol/message.ts';
import type { Log } from '../../shared/log.ts';
import type { AuthOptions } from './auth/auth-options.ts';
import { DEFAULT_ADMIN_SCOPE } from './auth/auth-options.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { TokenGate } from './auth/token-gate.ts';
import { answerThrown } from './http/answer.ts';
import type { Identify } from './identify.ts';

export interface Login {
  readonly identify: Identify;
  /** Identifies browsers at pages, which send no credential: undefined for those. */
  readonly identifyVisitor: Identify;
  /** The scope for /status and /metrics; undefined if every caller may see them. */
  readonly adminScope: string | undefined;
  /** Throws INSUFFICIENT_SCOPE for a call that needs more than the caller may do. */
  checkCall?(message: Message, identity: Identity, resource: string | undefined): void;
  /** Tokens are for URLs, so the public one must be known. */
  readonly needsUrl: boolean;
  /** Answers what clients ask before they log in. `endpoint`: the URL of /mcp. */
  wellKnown(path: string, endpoint: string | undefined): HttpHandler | undefined;
  /** Loads what it needs. Throws BAD_OPTION. */
  ready(): Promise<void>;
  close(): void;
}

/** The scopes that the call of this tool needs. */
export type NeededScopes = (tool: string) => readonly string[];

export interface LoginContext {
  clock: Clock;
  log: Log;
  audit?: RecordAudit | undefined;
  neededScopes?: NeededScopes | undefined;
}

/** Undefined without `auth`. */
export function createLogin(
  { auth, identify }: { auth?: AuthOptions | undefined; identify?: Identify | undefined },
  context: LoginContext,
): Login | undefined {
  if (!auth) return undefined;
  if (identify) throw new GatewayError('BAD_OPTION', { option: 'auth', reason: 'give either `auth` or `identify`' });
  const hasIssuers = (auth.issuers?.length ?? 0) > 0;
  const isNameless = auth.token !== undefined;
  let made: Authenticator | TokenGate | undefined;
  let loading: Promise<Authenticator | TokenGate> | undefined;
  const loadGate = () => import('./auth/token-gate.ts').then((loaded) => (made = new loaded.TokenGate(auth)));
  const loadAuthenticator = () =>
    import('./auth/authenticator.ts').then((loaded) => (made = new loaded.Authenticator(auth, context)));
  const load = () => (loading ??= isNameless ? loadGate() : loadAuthenticator());
  const asking: Identify = (request) => (made ? made.identify(request) : load().then((one) => one.identify(request)));
  return {
    identify: asking,
    identifyVisitor: (request) =>
      isNameless || request.headers.authorization === undefined ? undefined : asking(request),
    adminScope: isNameless ? undefined : (auth.adminScope ?? DEFAULT_ADMIN_SCOPE),
    checkCall: (message, identity, resource) => made?.checkCall(message, identity, resource),
    needsUrl: hasIssuers,
    wellKnown(path, endpoint) {
      if (!hasIssuers || !path.startsWith('/.well-known/oauth-')) return undefined;
      return (_request, response) => {
        const answered = load().then((one) => one.answer({ path, endpoint }, response));
        answered.catch((thrown: unknown) => answerThrown(context, response, thrown));
      };
    },
    ready: async () => void (await load()),
    close: () => made?.close(),
  };
}
