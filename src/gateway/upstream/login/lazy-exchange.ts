// The login by token exchange, loaded with the first request, together with all other logins.
import { GatewayError } from '../../../shared/errors.ts';
import type { ExchangedLoginOptions } from './exchanged-login.ts';
import type { LoginOptions, ServerLogin } from './server-login.ts';

export function createExchangedLogin(
  options: Omit<ExchangedLoginOptions, 'login'> & { login: LoginOptions },
): ServerLogin {
  const { exchange } = options.login;
  if (exchange === undefined || !URL.canParse(exchange.tokenEndpoint)) {
    const reason = 'the grant token_exchange needs exchange.tokenEndpoint, a URL';
    throw new GatewayError('BAD_OPTION', { option: `auth of ${options.name}`, reason });
  }
  const login = { ...options.login, exchange };
  let loaded: Promise<ServerLogin> | undefined;
  const load = (): Promise<ServerLogin> =>
    (loaded ??= import('./oauth-login.ts').then(({ exchangeTokens }) => exchangeTokens({ ...options, login })));
  return {
    url: options.url,
    headersFor: async (method, url) => (await (await load()).headersFor(method, url)) ?? {},
    refused: async (refusal) => (await load()).refused(refusal),
    accepted: () => {},
    begin: async (redirectUrl) => (await load()).begin(redirectUrl),
    lastRedirectUrl: async () => undefined,
    end: async () => (await load()).end(),
    settle: async () => false,
  };
}
