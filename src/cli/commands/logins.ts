// `parley logins`: where this user is logged in. It never prints a token.
import { join } from 'node:path';
import type { LoginRecord } from '../../gateway/upstream/login/login-store.ts';
import { systemClock } from '../../shared/clock.ts';
import { createCliLog } from '../cli-log.ts';
import type { Log } from '../../shared/log.ts';
import { loginKeys } from '../login/login-keys.ts';
import { ownLogins } from '../login/own-logins.ts';
import { ownStateFolder } from '../running/state-folder.ts';
import { displayPath } from '../terminal/display-path.ts';
import type { Printer } from '../terminal/print.ts';
import { toTable } from '../terminal/table.ts';

interface LoginRow {
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

export async function runLogins({ json }: { json: boolean }, print: Printer): Promise<number> {
  const log = createCliLog('error');
  const store = ownLogins(log);
  const records = await Promise.all((await store.keys()).map((key) => store.read(key)));
  const rows = records.flatMap((record) => (record ? toRow(record) : []));
  rows.sort((a, b) => a.server.localeCompare(b.server));
  if (json) print.line(JSON.stringify(rows, undefined, 2));
  else if (rows.length === 0) print.line('You are logged in nowhere.');
  else {
    for (const line of toTable([['server', 'login by', 'state', 'scopes'], ...rows.map(toCells)])) print.line(line);
    print.line(await keyLine(log));
  }
  return 0;
}

async function keyLine(log: Log): Promise<string> {
  const stateFolder = ownStateFolder();
  const { place, problem } = await loginKeys(stateFolder, log);
  if (place === 'keychain') return 'They are encrypted; the key is in the keychain.';
  const why = problem === undefined ? '' : ` The keychain does not work: ${problem}`;
  return `They are encrypted; the key is in ${displayPath(join(stateFolder, 'keys'))}.${why}`;
}

function toRow({ server, account, issuer, client, tokens }: LoginRecord): LoginRow {
  const expires = tokens?.expiresAt;
  const isExpired = expires !== undefined && expires <= systemClock.now();
  const renewed = tokens?.refresh === undefined ? 'valid' : 'renewed when needed';
  const state = tokens === undefined || (isExpired && tokens.refresh === undefined) ? 'needs a new login' : renewed;
  return {
    ...{ server, ...(account !== undefined && { account }), issuer, client: client.id, scope: tokens?.scope, state },
    expires: expires === undefined ? undefined : new Date(expires).toISOString(),
  };
}

function toCells({ server, account, issuer, state, scope = '' }: LoginRow): string[] {
  return [account === undefined ? server : `${server} (${account})`, issuer, state, scope];
}
