// Checks `auth`. Problems never repeat a key or a secret.
import { isForEverybody, issuerProblem } from '../../mcp/listen/auth/auth-options.ts';
import { MIN_KEY_LENGTH } from '../../kernel/crypto/state-keys.ts';
import type { AuthInput } from './auth-shape.ts';
import type { CheckContext } from './check-shape.ts';
import { toPathId } from './config-problems.ts';
import type { ConfigPath } from './config-problems.ts';
import type { ConfigInput } from './schema.ts';
import type { ServerInput } from './server-shape.ts';

type KeyInput = NonNullable<AuthInput['keys']>[number];
type FrontInput = NonNullable<AuthInput['front']>;
type IssuerInput = NonNullable<AuthInput['issuers']>[number];

export function checkAuth({ auth, publicUrl, listen }: ConfigInput, context: CheckContext): void {
  if (!auth) return;
  const names = new Set<string>();
  (auth.keys ?? []).forEach((key, index) => {
    if (key === undefined) return;
    checkKey(key, ['auth', 'keys', index], context);
    if (key.name !== undefined && names.has(key.name))
      context.problems.error(['auth', 'keys', index], `two keys are called "${key.name}"`, 'Give each its own name.');
    names.add(key.name ?? '');
  });
  (auth.issuers ?? []).forEach(
    (issuer, index) => issuer !== undefined && checkIssuer(issuer, ['auth', 'issuers', index], context),
  );
  if (auth.front) checkFront(auth.front, publicUrl, context);
  const places = (auth.issuers ?? []).filter((one) => typeof one === 'object' && one.pages !== undefined).length;
  if (places + (auth.front ? 1 : 0) > 1)
    context.problems.error(['auth'], 'people can log in at pages in one place only', 'Keep one "pages", or "front".');
  const host = typeof listen === 'object' ? listen.host : undefined;
  const isElsewhere = host !== undefined && !/^(localhost|127\.|\[?::1\]?$)/.test(host);
  if ((auth.issuers?.length ?? 0) > 0 && isElsewhere && publicUrl === undefined) {
    const what = 'tokens are for the URL that clients use, and that is unknown';
    context.problems.error(['auth', 'issuers'], what, 'Add "publicUrl", such as https://mcp.example.com.');
  }
}

/** Checks how to log in at one server. */
export function checkLogin(
  { account, auth = {} }: ServerInput,
  { auth: users, path }: Pick<ConfigInput, 'auth'> & { path: ConfigPath },
  { problems }: CheckContext,
): void {
  const isExchanged = auth.grant === 'token_exchange';
  if ((account === 'user' || isExchanged) && !users) {
    const at = [...path, ...(isExchanged ? ['auth', 'grant'] : ['account'])];
    problems.error(
      at,
      'users must be told apart',
      'Add "auth" next to the servers: it says how users of the gateway log in.',
    );
  }
  if (auth.grant !== 'client_credentials') return;
  const { clientId = auth.CLIENT_ID, clientSecret = auth.CLIENT_SECRET, clientKey } = auth;
  if (clientId !== undefined && (clientSecret ?? clientKey) !== undefined) return;
  const what = 'client_credentials needs "clientId", and "clientSecret" or "clientKey"';
  problems.error([...path, 'auth'], what, 'Register a client at the login of the server.');
}

function checkKey({ name, key, hash, expires }: KeyInput, path: ConfigPath, { problems, missing }: CheckContext): void {
  if (name === undefined) problems.error(path, 'this key has no "name"', 'Name it after its user or program.');
  if ((key === undefined) === (hash === undefined))
    problems.error(path, 'a key needs either "key" or "hash"', 'Make one with: parley key add NAME.');
  const isKnown = key !== undefined && !missing.has(toPathId([...path, 'key']));
  if (isKnown && key.length < MIN_KEY_LENGTH)
    problems.error([...path, 'key'], `this key is too short: it needs ${MIN_KEY_LENGTH} characters`, MAKE);
  if (hash !== undefined && !/^sha256:[0-9a-f]{64}$/.test(hash) && !missing.has(toPathId([...path, 'hash'])))
    problems.error([...path, 'hash'], 'this is not a hash', 'Write "sha256:" and 64 hexadecimal digits.');
  if (expires !== undefined && Number.isNaN(Date.parse(expires)))
    problems.error([...path, 'expires'], 'this is not a date', 'Write it like 2027-06-30.');
}

const MAKE = 'Make one with: openssl rand -base64 32.';

function checkIssuer(given: IssuerInput, path: ConfigPath, { problems, missing }: CheckContext): void {
  const issuer = typeof given === 'string' ? given : given.issuer;
  const at = typeof given === 'string' ? path : [...path, 'issuer'];
  checkIssuerUrl(issuer ?? '', issuer === undefined ? path : at, { problems, missing });
  if (typeof given === 'string') return;
  if (given.pages && given.pages.clientId === undefined)
    problems.error([...path, 'pages'], 'it needs "clientId"', 'Register the gateway there.');
  if (!given.introspection) return;
  const { clientId, clientSecret } = given.introspection;
  if (clientId === undefined || clientSecret === undefined)
    problems.error([...path, 'introspection'], 'it needs "clientId" and "clientSecret"', 'Register the gateway there.');
}

type IssuerContext = Pick<CheckContext, 'problems' | 'missing'>;

function checkIssuerUrl(issuer: string, at: ConfigPath, { problems, missing }: IssuerContext): void {
  if (missing.has(toPathId(at))) return;
  const problem = issuerProblem(issuer);
  if (problem !== undefined)
    problems.error(at, problem, 'Write it as tokens name it in `iss`, such as https://login.example.com.');
}

function checkFront(front: FrontInput, publicUrl: string | undefined, context: CheckContext): void {
  const { problems } = context;
  const at = ['auth', 'front'];
  if (front.issuer !== undefined) checkIssuerUrl(front.issuer, [...at, 'issuer'], context);
  (front.assertions ?? []).forEach((issuer, index) => {
    if (issuer !== undefined) checkIssuerUrl(issuer, [...at, 'assertions', index], context);
  });
  if (front.issuer === undefined || front.clientId === undefined)
    problems.error(at, 'it needs "issuer" and "clientId"', 'Register the gateway at your identity provider.');
  if (publicUrl === undefined)
    problems.error(at, 'it needs "publicUrl"', 'Add the URL at which browsers reach this gateway.');
  if (front.issuer !== undefined && isForEverybody(front.issuer) && !front.allow)
    problems.error(at, 'everybody can have an account there', 'Say who may log in: "allow": { "email": […] }.');
  (front.clients ?? []).forEach((client, index) => {
    if (client?.clientId === undefined || client.clientSecret === undefined)
      problems.error(
        [...at, 'clients', index],
        'it needs "clientId" and "clientSecret"',
        'Others register themselves.',
      );
  });
}
