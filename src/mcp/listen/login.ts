// The login that `auth` describes. What it needs is loaded with the first request. A program's own `identify` does not pass through here.
import type { Identity, Validity } from '../../kernel/exchange.ts';
import type { PageLogin } from '../../kernel/login-pages.ts';
import type { Message } from '../../kernel/message.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../kernel/base/http.ts';
import { DEFAULT_ADMIN_SCOPE, FRONT_PATH, isForEverybody, issuerProblem } from './auth/auth-options.ts';
import type { ListedKey } from './auth/api-keys.ts';
import type { AuthOptions, FrontOptions } from './auth/auth-options.ts';
import type { NodeVisit } from './auth/front/node-visit.ts';
import type { Authenticator } from './auth/authenticator.ts';
import { PAGE_CALLBACK_PATH, createPageLogin } from './auth/page-login.ts';
import type { TokenGate } from './auth/token-gate.ts';
import { answerThrown } from './http/refusals.ts';
import { isLoopback } from './guard.ts';
import type { Identify, IdentifyRequest } from './identify.ts';
import type { CompleteContext, LoginContext } from './auth/login-context.ts';
import { LoginMemory } from './auth/login-memory.ts';

export interface Login {
  readonly identify: Identify;
  /** Identifies browsers at pages, which send no credential: undefined for those. */
  readonly identifyVisitor: Identify;
  /** The scope for /status and /metrics. */
  readonly adminScope: string;
  /** Callers without a name may see them, too: they have the token of the user who runs the gateway. */
  readonly isNameless: boolean;
  /** How long callers without a name may have something open. Ask for it before they are let in, since a change of `auth` may come in between. */
  readonly namelessValidity: Validity | undefined;
  /** Throws INSUFFICIENT_SCOPE for a call that needs more than the caller may do. */
  checkCall?(message: Message, identity: Identity, resource: string | undefined): void;
  /** Tokens are for URLs, so the public one must be known. */
  readonly needsUrl: boolean;
  /** Answers what clients and browsers ask before they are logged in. `local`: the path as it would be at /mcp. */
  openPage(asked: OpenPage): HttpHandler | undefined;
  /** For people at the pages of the gateway. */
  readonly pageLogin: PageLogin | undefined;
  /** Loads what it needs. Throws BAD_OPTION. */
  ready(): Promise<void>;
  /** The API keys that it knows. */
  keys(): Promise<readonly ListedKey[]>;
  /** What checks callers. */
  checks(): Promise<Authenticator | TokenGate>;
  /** Another login takes its place: what was opened by a key or a token that it does not let in ends. */
  retire(next: Login): void;
  close(): void;
}

interface OpenPage {
  /** With all that stands before /mcp. */
  path: string;
  local: string;
  /** The URL of /mcp. */
  endpoint: () => string | undefined;
}

interface LoginSource {
  auth: AuthOptions;
  identify?: Identify | undefined;
  publicUrl?: string | undefined;
}

export function createLogin({ auth, identify, publicUrl }: LoginSource, around: LoginContext): Login {
  if (identify) throw new GatewayError('BAD_OPTION', { option: 'auth', reason: 'give either `auth` or `identify`' });
  checkIssuers(auth, publicUrl);
  const context = { ...around, memory: around.memory ?? new LoginMemory(around) };
  const hasIssuers = (auth.issuers?.length ?? 0) > 0 || auth.front !== undefined;
  const isNameless = auth.token !== undefined;
  let made: Authenticator | TokenGate | undefined;
  let loading: Promise<Authenticator | TokenGate> | undefined;
  const load = () => (loading ??= loadChecks(auth, context).then((one) => (made = one)));
  const asking = keepHeaders(auth.headers, (request) =>
    made ? made.identify(request) : load().then((one) => one.identify(request)),
  );
  const pageLogin = pageLoginFor(auth, publicUrl, context);
  return {
    identify: asking,
    pageLogin,
    identifyVisitor: (request) =>
      isNameless || request.headers.authorization === undefined ? undefined : asking(request),
    adminScope: auth.adminScope ?? DEFAULT_ADMIN_SCOPE,
    isNameless,
    namelessValidity: isNameless ? { watch: (end) => (made as TokenGate).validity.watch(end) } : undefined,
    checkCall: (message, identity, resource) => made?.checkCall(message, identity, resource),
    needsUrl: hasIssuers,
    openPage(asked) {
      if (!hasIssuers || isNameless) return undefined;
      const answer = auth.front ? frontPageAt(asked) : undefined;
      const isMetadata = asked.path.startsWith('/.well-known/oauth-');
      const isCallback = pageLogin !== undefined && asked.local === PAGE_CALLBACK_PATH;
      if (answer === undefined && !isMetadata && !isCallback) return undefined;
      return (request, response) => {
        if (isCallback || (answer === '/callback' && pageLogin?.isBack(request)))
          return void pageLogin
            .comeBack(request, response)
            .catch((thrown: unknown) => answerThrown(context, response, thrown));
        const endpoint = asked.endpoint();
        const answered = (load() as Promise<Authenticator>).then((one) =>
          answer === undefined || endpoint === undefined
            ? one.answer({ path: asked.path, endpoint }, response)
            : one.front(endpoint).then((front) => front.handle(answer, toNode(request, response))),
        );
        answered.catch((thrown: unknown) => answerThrown(context, response, thrown));
      };
    },
    ready: async () => void (await load()),
    keys: async () => (await load()).keys,
    checks: load,
    retire: (next) => void handOver(load(), next),
    close: () => made?.close(),
  };
}

/** Throws if tokens are for a URL that nobody has said. */
export function requireUrl(
  { login, publicUrl }: { login?: Login | undefined; publicUrl?: string | undefined },
  host: string,
): void {
  if (!login?.needsUrl || publicUrl !== undefined || isLoopback(host)) return;
  const reason = 'tokens are for the URL that clients use: say which, such as https://mcp.example.com';
  throw new GatewayError('BAD_OPTION', { option: 'publicUrl', reason });
}

/** What checks callers, once it can. */
async function loadChecks(auth: AuthOptions, context: CompleteContext): Promise<Authenticator | TokenGate> {
  const made =
    auth.token === undefined
      ? new (await import('./auth/authenticator.ts')).Authenticator(auth, context)
      : new (await import('./auth/token-gate.ts')).TokenGate(auth, context);
  await made.open();
  return made;
}

/** A login that could not be loaded has let in nobody: who asked has the reason. */
async function handOver(loading: Promise<Authenticator | TokenGate>, next: Login): Promise<void> {
  const checks = await loading.catch(() => undefined);
  checks?.handOver(await next.checks().catch(() => undefined));
}

function pageLoginFor(auth: AuthOptions, publicUrl: string | undefined, context: CompleteContext) {
  const { clock, log, events, memory, visitors, loadFrontPages: pages } = context;
  return visitors && pages && createPageLogin(auth, publicUrl, { clock, log, events, memory, pages, ...visitors });
}

const SECRET_HEADERS = ['authorization', 'proxy-authorization', 'cookie', 'dpop'];

/** With the named headers on what it finds out. */
function keepHeaders(names: readonly string[] = [], identify: Identify): Identify {
  const kept = names.map((name) => name.toLowerCase());
  const secret = kept.find((name) => SECRET_HEADERS.includes(name));
  if (secret !== undefined)
    throw new GatewayError('BAD_OPTION', { option: 'auth.headers', reason: `"${secret}" holds secrets` });
  if (kept.length === 0) return identify;
  const add = (found: Awaited<ReturnType<Identify>>, { headers }: IdentifyRequest) => {
    if (typeof found !== 'object' || found === null) return found;
    const own = kept.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : []));
    return { ...found, headers: Object.fromEntries(own) as Record<string, string> };
  };
  return (request) => {
    const found = identify(request);
    return found instanceof Promise ? found.then((one) => add(one, request)) : add(found, request);
  };
}

function checkIssuers({ issuers = [], front }: AuthOptions, publicUrl: string | undefined): void {
  const named = issuers.map((one) => (typeof one === 'string' ? one : one.issuer));
  for (const issuer of [...named, ...(front ? [front.issuer, ...(front.assertions ?? [])] : [])]) {
    const reason = issuerProblem(issuer);
    if (reason !== undefined) throw new GatewayError('BAD_OPTION', { option: 'auth', reason });
  }
  if (front) checkFront(front, publicUrl);
}

function checkFront({ issuer, allow }: FrontOptions, publicUrl: string | undefined): void {
  const bad = (reason: string) => new GatewayError('BAD_OPTION', { option: 'auth.front', reason });
  if (publicUrl === undefined) throw bad('it needs `publicUrl`, the URL at which browsers reach this gateway');
  if (isForEverybody(issuer) && !allow) throw bad('everybody can have an account there: say who may log in (`allow`)');
}

const METADATA = /^\/\.well-known\/(oauth-authorization-server|openid-configuration)(\/|$)/;

/** The path within the authorization server in front; its metadata has several places. */
function frontPageAt({ path, local }: OpenPage): string | undefined {
  if (local.startsWith(`${FRONT_PATH}/`)) return local.slice(FRONT_PATH.length);
  return METADATA.test(path) ? '/.well-known/openid-configuration' : undefined;
}

/** oidc-provider wants Node's own objects. */
function toNode(request: HttpRequest, response: HttpResponse): NodeVisit {
  if ('httpVersion' in request && 'getHeaderNames' in response) return { request, response } as unknown as NodeVisit;
  throw new GatewayError('BAD_OPTION', { option: 'auth.front', reason: 'it needs a port of Node, not `fetch`' });
}
