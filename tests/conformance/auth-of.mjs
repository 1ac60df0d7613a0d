// How to log in at the mock server of an authorization scenario: what only a user knows (a client registered by hand, a key) stands in
// the context that the suite gives.
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

export function authOf() {
  const { client_id: clientId, client_secret: clientSecret } = context;
  switch (scenario) {
    case 'auth/basic-cimd':
      return { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' };
    case 'auth/client-credentials-jwt':
      return {
        grant: 'client_credentials',
        clientId,
        clientKey: context.private_key_pem,
        clientKeyAlgorithm: context.signing_algorithm,
      };
    case 'auth/client-credentials-basic':
      return { grant: 'client_credentials', clientId, clientSecret };
    case 'auth/wif-jwt-bearer':
      return { grant: 'jwt_bearer', clientId, assertion: context.valid_jwt };
    case 'auth/enterprise-managed-authorization':
      return {
        grant: 'id_jag',
        clientId,
        clientSecret,
        idp: {
          tokenEndpoint: context.idp_token_endpoint,
          clientId: context.idp_client_id,
          idToken: context.idp_id_token,
        },
      };
    default:
      return { clientId, clientSecret };
  }
}
