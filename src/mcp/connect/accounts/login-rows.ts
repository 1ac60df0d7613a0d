// Logins at servers as people see them: at which server, by whom, and whether they still work. Never a token.
import { systemClock } from '../../../kernel/base/clock.ts';
import type { LoginRecord, LoginStore } from './login-store.ts';

export interface ServerLoginRow {
  server: string;
  /** The user of a gateway, if it is not a login for all. */
  account?: string;
  /** Who the tokens are from. */
  issuer: string;
  client: string;
  scope: string | undefined;
  state: string;
  /** ISO 8601. */
  expires: string | undefined;
}

export const NEEDS_LOGIN = 'needs a new login';

export async function readLoginRows(store: LoginStore): Promise<ServerLoginRow[]> {
  const records = await Promise.all((await store.keys()).map((key) => store.read(key)));
  const rows = records.flatMap((record) => (record ? toRow(record) : []));
  return rows.sort((a, b) => a.server.localeCompare(b.server));
}

function toRow({ server, account, issuer, client, tokens }: LoginRecord): ServerLoginRow {
  const expires = tokens?.expiresAt;
  const isExpired = expires !== undefined && expires <= systemClock.now();
  const renewed = tokens?.refresh === undefined ? 'valid' : 'renewed when needed';
  const state = tokens === undefined || (isExpired && tokens.refresh === undefined) ? NEEDS_LOGIN : renewed;
  return {
    server,
    ...(account !== undefined && { account }),
    issuer,
    client: client.id,
    scope: tokens?.scope,
    state,
    expires: expires === undefined ? undefined : new Date(expires).toISOString(),
  };
}
