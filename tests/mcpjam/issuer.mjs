// A real authorization server (oidc-provider) whose person is logged in and agrees at once. Its access tokens are JWTs for one URL.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

export const KNOWN_CLIENT = { clientId: 'known', clientSecret: 'the-secret-of-a-known-client-0123456789' };
const HOST = '127.0.0.1';

/** `resource`: says the URL that tokens are for. `redirects`: those of the client that is registered beforehand. */
export async function startIssuer({ resource, redirects = [], clients = [] }) {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, HOST, resolve));
  const issuer = `http://${HOST}:${server.address().port}`;
  const provider = new Provider(issuer, configure({ resource, redirects, clients }));
  const own = provider.callback();
  server.on('request', (request, response) => {
    if (request.url.startsWith('/agree/')) void agree(provider, request, response);
    else void own(request, response);
  });
  return { issuer, provider, close: () => server.close().closeAllConnections() };
}

function configure({ resource, redirects, clients }) {
  const known = {
    client_id: KNOWN_CLIENT.clientId,
    client_secret: KNOWN_CLIENT.clientSecret,
    redirect_uris: redirects,
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    response_types: ['code'],
    application_type: 'native',
    token_endpoint_auth_method: 'client_secret_post',
  };
  return {
    clients: [known, ...clients],
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', 'mcp'],
    clientDefaults: { application_type: 'native' },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource(),
        useGrantedResource: () => true,
        getResourceServerInfo: (_, asked) => ({
          scope: 'mcp',
          audience: asked,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
        }),
      },
    },
    ttl: { Grant: 3600, Session: 3600, RefreshToken: 3600, Interaction: 600, IdToken: 600 },
    issueRefreshToken: async () => true,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_, { uid }) => `/agree/${uid}` },
  };
}

async function agree(provider, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'ada' } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  const scope = String(params.scope ?? 'mcp');
  grant.addOIDCScope(scope);
  for (const one of [params.resource ?? []].flat()) grant.addResourceScope(one, scope);
  const grantId = await grant.save();
  const agreed = { consent: { grantId } };
  return provider.interactionFinished(request, response, agreed, { mergeWithLastSubmission: true });
}
