// The configuration keys that say how to log in at a server. Cursor writes some of them in capitals, Claude Code and VS Code under "oauth".
import { choice, flag, integer, list, object, text } from './shape.ts';
import type { TypeOf } from './shape.ts';

const GRANTS = ['client_credentials', 'jwt_bearer', 'id_jag', 'token_exchange'] as const;

const IDP = object(
  {
    tokenEndpoint: text('Its token endpoint.', { notEmpty: true }),
    clientId: text('The client registered there.', { notEmpty: true }),
    clientSecret: text('Its secret; name a variable.'),
    idToken: text('The ID token of the user; name a variable.'),
    idTokenFile: text('Or a file that holds it, read for every login.'),
  },
  'The identity provider of a company, for `id_jag`.',
);

const EXCHANGE = object(
  {
    tokenEndpoint: text("The token endpoint that exchanges tokens. Users' tokens go nowhere else.", { notEmpty: true }),
    audience: text('Whom the new token is for. Default: the URL of the server, as "resource".'),
    resource: text('The URL that the new token is for, if not that of the server.'),
  },
  'Where the tokens of users are exchanged (RFC 8693), for `token_exchange`.',
);

export const SERVER_LOGIN = object(
  {
    clientId: text('A client that you registered at the login by hand.', { notEmpty: true }),
    clientSecret: text('Its secret; name a variable.'),
    clientKey: text('Or its private key: a PEM file, or PEM text (PKCS #8).'),
    clientKeyAlgorithm: text('Of the key. Default: ES256.'),
    clientKeyId: text('The id of the key, where the login needs it.'),
    clientMetadataUrl: text('The https URL of a client-id metadata document, used where the login supports them.'),
    scopes: list(text('A scope.'), 'What to ask for, if the server names nothing.'),
    grant: choice(
      GRANTS,
      'How a service logs in without a person: client_credentials as the client itself; jwt_bearer with "assertion"; id_jag by "idp"; token_exchange with the token of each user, by "exchange". Default: a person logs in.',
    ),
    assertion: text('A JWT of the platform that runs Parley; name a variable.'),
    assertionFile: text('Or a file that holds it, read for every login.'),
    idp: IDP,
    exchange: EXCHANGE,
    dpop: flag('Bind tokens to a key (DPoP). Default: where the server demands it.'),
    callbackPort: integer('Loopback port of the redirect, for a client that was registered with one.', {
      min: 1,
      max: 65_535,
    }),
    hosts: list(text('A host name.'), 'Hosts of the login that may have private addresses.'),
    CLIENT_ID: text('The same as "clientId", as Cursor writes it.'),
    CLIENT_SECRET: text('The same as "clientSecret", as Cursor writes it.'),
  },
  'How to log in at this server (docs/logins.md). Without it, the server says how, and a person logs in.',
);

/** What Claude Code and VS Code write. */
export const FOREIGN_LOGIN = object(
  {
    clientId: text('A client that you registered by hand.'),
    callbackPort: integer('Loopback port of the redirect.', { min: 1, max: 65_535 }),
  },
  'The same as "auth", as VS Code and Claude Code write it.',
);

export type LoginInput = TypeOf<typeof SERVER_LOGIN>;
