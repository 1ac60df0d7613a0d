// What `parley doctor` sees of logins: those that no longer work, and those that will end soon.
import { createCliLog } from '../../terminal/cli-log.ts';
import { NEEDS_LOGIN, readLoginRows } from '../../../mcp/connect/accounts/login-rows.ts';
import { ownLoginFolder, ownLogins } from '../../login/own-logins.ts';
import { countLoginFiles } from '../../../mcp/connect/accounts/login-store.ts';
import { programName } from '../../program.ts';
import { ok } from './report.ts';
import type { CheckOutcome } from './report.ts';

export async function checkLogins(): Promise<CheckOutcome[]> {
  const check = 'logins';
  const files = countLoginFiles(ownLoginFolder());
  if (files === 0) return [ok(check, 'you are logged in nowhere, which is fine if no server asks for it')];
  const rows = await readLoginRows(ownLogins(createCliLog('silent')));
  const found = rows.map(({ server, account, state, expires, issuer }): CheckOutcome => {
    const whose = account === undefined ? server : `${server} (${account})`;
    const measured = { server, issuer, state, expires: expires ?? null };
    const until = expires === undefined ? '' : `, until ${expires}`;
    if (state !== NEEDS_LOGIN) return ok(check, `${whose}: ${state}${until}`, measured);
    const fix = `${programName()} login ${server}`;
    return { check, level: 'warning', what: `${whose}: ${state}`, fix, measured };
  });
  const unread = files - rows.length;
  if (unread <= 0) return found;
  const what = `${unread} of ${files} logins cannot be read with the key that is there`;
  return [...found, { check, level: 'warning', what, fix: `See "${programName()} logins".` }];
}
