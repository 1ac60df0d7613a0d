// The configuration key that says who may call.
import { either, flag, integer, list, object, record, text } from '../../kernel/config/shape.ts';
import type { TypeOf } from '../../kernel/config/shape.ts';

const scopes = (about: string) => list(text('A scope.', { notEmpty: true }), about);

const API_KEY = object(
  {
    name: text('What it is called in lists and logs.', { notEmpty: true }),
    key: text('The key; name a variable.'),
    hash: text('Or its hash: `sha256:` and 64 hexadecimal digits.'),
    user: text('Who uses it. Keys of one user share sessions, questions and tasks. Default: its name.', {
      notEmpty: true,
    }),
    scopes: scopes('What it allows. Default: everything but the admin scope.'),
    groups: list(text('A group.'), 'Groups of its user, for steps.'),
    expires: text('Until when it works, such as 2027-06-30. Default: for ever.'),
  },
  'An API key.',
);

const ISSUER = object(
  {
    issuer: text('Its URL, as tokens name it in `iss`.', { notEmpty: true }),
    audience: either(
      [list(text('One of them.'), 'Any of them.'), text('What `aud` may be.')],
      'What else `aud` may be besides the URL of the endpoint, for issuers without resource indicators.',
    ),
    jwksUrl: text('Where its keys are. Default: as its metadata says.'),
    algorithms: list(text('Such as RS256.'), 'How tokens may be signed. Default: all asymmetric algorithms.'),
    groupsClaim: text('The claim with the groups of a user. Default: groups.', { notEmpty: true }),
    pages: object(
      {
        clientId: text('The id of this gateway at the issuer. Its redirect is `<publicUrl>/ask/callback`.', {
          notEmpty: true,
        }),
        clientSecret: text('Its secret; name a variable.'),
        scopes: scopes('What is asked for there. Default: openid, profile, email.'),
      },
      'Lets people log in at the pages of this gateway, to approve what they have called and to log in at servers.',
    ),
    introspection: object(
      {
        clientId: text('The id of this gateway at the issuer.'),
        clientSecret: text('Its secret; name a variable.'),
        url: text('Default: as the metadata of the issuer says.'),
        cacheMs: integer('How long an answer counts. Default: 10000.', { min: 0, max: 3_600_000 }),
      },
      'Asks the issuer about tokens that are not JWTs (RFC 7662).',
    ),
  },
  'An issuer of access tokens.',
);

const claim = either(
  [list(text('One of them.'), 'Any of them.'), text('What it must be, or hold.')],
  'What the claim must be, or hold.',
);

const FRONT = object(
  {
    issuer: text('The OpenID issuer at which people log in, such as https://accounts.google.com.', { notEmpty: true }),
    clientId: text('The id of this gateway there. Its redirect is `<publicUrl>/oauth/callback`.', { notEmpty: true }),
    clientSecret: text('Its secret; name a variable.'),
    scopes: scopes('What is asked for there. Default: openid, profile, email.'),
    allow: record(
      claim,
      'Who may log in, by claims of the ID token; all of them must match. Default: everybody there.',
    ),
    groupsClaim: text('The claim with the groups of a person. Default: groups.', { notEmpty: true }),
    folder: text('Where clients and logins are kept, relative to this file. Default: in your state folder.', {
      notEmpty: true,
    }),
    clients: list(
      object(
        {
          clientId: text('Its id.', { notEmpty: true }),
          clientSecret: text('Its secret; name a variable.'),
          name: text('How people see it.'),
          redirects: list(text('A URL.'), 'Where it gets its answers.'),
        },
        'A client that need not register.',
      ),
      'Clients that need not register, such as services that bring assertions.',
    ),
    assertions: list(text('Its URL.'), 'Identity providers whose assertions (ID-JAG) are exchanged for tokens.'),
  },
  'An authorization server in front of an identity provider at which clients cannot register. Needs `publicUrl` and the package oidc-provider.',
);

export const AUTH = object(
  {
    keys: list(API_KEY, 'API keys, in addition to those of `parley key add`.'),
    keyFile: text('The file of `parley key`, relative to this file. Default: the one in your state folder.', {
      notEmpty: true,
    }),
    issuers: list(
      either([ISSUER, text('Its URL.')], 'An issuer, or just its URL.'),
      'OpenID and OAuth issuers whose access tokens are accepted.',
    ),
    scopes: scopes('Scopes that every caller needs.'),
    toolScopes: record(scopes('Scopes.'), 'Scopes that the call of a tool needs, by names or globs of tools.'),
    headers: list(
      text('Its name.', { notEmpty: true }),
      'Headers about the caller, for steps and rules (`headers`), such as one that a proxy sets. Clients can send any header that the proxy lets through.',
    ),
    adminScope: text('The scope for `/status` and `/metrics`. Default: admin.', { notEmpty: true }),
    front: FRONT,
    dpop: object(
      {
        required: flag('Tokens of issuers that are bound to no key of their client are refused.'),
        nonce: flag('Proofs need a nonce of this gateway.'),
      },
      'Tokens that are bound to a key of their client (DPoP, RFC 9449). Their proofs are always checked.',
    ),
  },
  'Who may call (docs/logins.md). Without it: anybody who has the token of the gateway, on loopback only (docs/safety.md).',
);

export type AuthInput = TypeOf<typeof AUTH>;
