// Normalizes how to log in at a server: one spelling of each key, absolute paths.
import { resolve } from 'node:path';
import type { LoginConfig } from './config.ts';
import type { ServerInput } from './check/schema.ts';
import { isPem } from './redact-config.ts';

/** Undefined if the entry says nothing about it. */
export function normalizeLogin({ auth, oauth, scopes: codex }: ServerInput, folder: string): LoginConfig | undefined {
  if (auth === undefined && oauth === undefined && codex === undefined) return undefined;
  const { CLIENT_ID, CLIENT_SECRET, idp, clientKey, assertionFile, ...rest } = auth ?? {};
  const at = (path: string | undefined): string | undefined => path && resolve(folder, path);
  const given = {
    ...rest,
    clientId: rest.clientId ?? CLIENT_ID ?? oauth?.clientId,
    clientSecret: rest.clientSecret ?? CLIENT_SECRET,
    clientKey: clientKey !== undefined && isPem(clientKey) ? clientKey : at(clientKey),
    scopes: rest.scopes ?? codex,
    assertionFile: at(assertionFile),
    idp: idp && withoutUndefined({ ...idp, idTokenFile: at(idp.idTokenFile) }),
    callbackPort: rest.callbackPort ?? oauth?.callbackPort,
  };
  return withoutUndefined(given);
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T;
}
