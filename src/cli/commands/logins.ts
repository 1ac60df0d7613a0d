// `parley logins`: where this user is logged in. It never prints a token.
import { join } from 'node:path';
import { countLoginFiles } from '../../gateway/upstream/login/login-file.ts';
import type { LoginRecord } from '../../gateway/upstream/login/login-store.ts';
import { systemClock } from '../../shared/clock.ts';
import { createCliLog } from '../terminal/cli-log.ts';
import type { Log } from '../../shared/log.ts';
import { loginKeys } from '../login/login-keys.ts';
import { ownLoginFolder, ownLogins } from '../login/own-logins.ts';
import { ownStateFolder } from '../../shared/secrets/own-folders.ts';
import { displayPath } from '../environment.ts';
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
  else await printRows(rows, log, print);
  return 0;
}

async function printRows(rows: LoginRow[], log: Log, print: Printer): Promise<void> {
  const table = rows.length === 0 ? [] : toTable([['server', 'login by', 'state', 'scopes'], ...rows.map(toCells)]);
  for (const line of table) print.line(line);
  if (rows.length === 0) print.line('You are logged in nowhere.');
  const { place, problem } = await loginKeys(ownStateFolder(), log);
  const where = place === 'keychain' ? 'the keychain' : displayPath(join(ownStateFolder(), 'keys'));
  const why = problem === undefined ? '' : ` The keychain does not work: ${problem}`;
  if (rows.length > 0) print.line(`They are encrypted; the key is in ${where}.${why}`);
  const unread = countLoginFiles(ownLoginFolder()) - rows.length;
  if (unread <= 0) return;
  const which = unread === 1 ? '1 login' : `${unread} logins`;
  print.line(
    `${which} cannot be read with the key in ${where}. Was the key in a keychain that is not there now?${why}`,
  );
}

function toRow({ server, account, issuer, client, tokens }: LoginRecord): LoginRow {
  const expires = tokens?.expiresAt;
  const isExpired = expires !== undefined && expires <= systemClock.now();
  const renewed = tokens?.refresh === undefined ? 'valid' : 'renewed when needed';
  const state = tokens === undefined || (isExpired && tokens.refresh === undefined) ? 'needs a new login' : renewed;
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

function toCells({ server, account, issuer, state, scope = '' }: LoginRow): string[] {
  return [account === undefined ? server : `${server} (${account})`, issuer, state, scope];
}
