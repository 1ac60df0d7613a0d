// `parley login`, `logout` and `logins`: a person's logins at servers, for all commands and gateways of this user. They never print a token.
import { join } from 'node:path';
import { connectAs } from '../../sdk/client/connect.ts';
import { toLoginSettings } from '../../config/apply/login-settings.ts';
import { countLoginFiles } from '../../mcp/connect/accounts/login-store.ts';
import type { LoginTarget } from '../../mcp/connect/accounts/login-to.ts';
import { loginKey } from '../../mcp/connect/accounts/server-login.ts';
import type { Log } from '../../kernel/base/log.ts';
import { ownStateFolder } from '../../kernel/secrets/own-folders.ts';
import { version } from '../../kernel/version.ts';
import type { LoginCommand, LogoutCommand } from '../args/login-commands.ts';
import { displayPath } from '../environment.ts';
import { loginKeys } from '../login/login-keys.ts';
import { readLoginRows } from '../../mcp/connect/accounts/login-rows.ts';
import type { ServerLoginRow } from '../../mcp/connect/accounts/login-rows.ts';
import { openBrowser } from '../login/open-browser.ts';
import { ownLogin, ownLogins, ownLoginFolder } from '../login/own-logins.ts';
import { untilSignal } from '../signals.ts';
import { createCliLog } from '../terminal/cli-log.ts';
import { formatError } from '../terminal/format-error.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { toTable } from '../../kernel/command/table.ts';
import { loadCommandConfig } from '../trust/load-command-config.ts';

export async function runLogin(command: LoginCommand, print: Printer): Promise<number> {
  const target = await findTarget(command, print);
  if (!target) return 1;
  return Promise.race([logIn(target, command, print), untilSignal().then(() => 1)]);
}

/** Undefined if there is no such server; the reason has been printed. */
async function findTarget(command: LoginCommand | LogoutCommand, print: Printer): Promise<LoginTarget | undefined> {
  const { server: name, login } = command;
  if (/^https?:\/\//i.test(name)) {
    if (URL.canParse(name)) return { name, url: new URL(name), login };
    print.problem(`"${name}" is not a URL.`);
    return undefined;
  }
  const missing = `"${name}" is not a URL, and there is no configuration that could have a server of this name.`;
  const loaded = await loadCommandConfig(command.config, print, { missing });
  if (!loaded) return undefined;
  const found = loaded.config.servers[name];
  if (found && 'url' in found && /^https?:/i.test(found.url)) {
    return { name, url: new URL(found.url), login: toLoginSettings(found.auth) };
  }
  const what = found ? 'has no URL, and so no login' : 'is not in it';
  print.problem(`${displayPath(loaded.path)}: the server "${name}" ${what}.`);
  return undefined;
}

async function logIn(target: LoginTarget, { isAgain }: LoginCommand, print: Printer): Promise<number> {
  const { log, store } = open();
  if (isAgain) await store.remove(loginKey(target.url, target.login));
  let isAsked = false;
  const show = (link: string): void => {
    isAsked = true;
    const isOpen = openBrowser(link);
    print.note(`${isOpen ? 'Your browser shows this page; log in there' : 'Open this link to log in'}:\n  ${link}`);
  };
  try {
    const options = { name: 'parley', version: version(), log };
    const client = await connectAs({ url: target.url }, options, ownLogin(target, { log, show }));
    // Some servers want no login before the lists.
    if (client.server.capabilities.tools) await client.listTools();
    await client.close();
  } catch (thrown) {
    print.problem(formatError(thrown));
    return 1;
  }
  const isKept = store.has(loginKey(target.url, target.login));
  if (isAsked) print.line(`Logged in at ${target.name}.`);
  else print.line(isKept ? `You are logged in at ${target.name}.` : `${target.name} needs no login.`);
  return 0;
}

function open() {
  const log = createCliLog('error');
  return { log, store: ownLogins(log) };
}

export async function runLogout(command: LogoutCommand, print: Printer): Promise<number> {
  const target = await findTarget(command, print);
  if (!target) return 1;
  const { log, store } = open();
  const isRemoved = store.has(loginKey(target.url, target.login));
  if (isRemoved) await ownLogin(target, { log }).end();
  await store.unbindIssuer(loginKey(target.url, target.login));
  print.line(isRemoved ? `Logged out of ${target.name}.` : `You were not logged in at ${target.name}.`);
  return 0;
}

export async function runLogins({ json }: { json: boolean }, print: Printer): Promise<number> {
  const { log, store } = open();
  const rows = await readLoginRows(store);
  if (json) print.line(JSON.stringify(rows, undefined, 2));
  else await printRows(rows, log, print);
  return 0;
}

async function printRows(rows: ServerLoginRow[], log: Log, print: Printer): Promise<void> {
  const table = rows.length === 0 ? [] : toTable([['SERVER', 'LOGIN BY', 'STATE', 'SCOPES'], ...rows.map(toCells)]);
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

function toCells({ server, account, issuer, state, scope = '' }: ServerLoginRow): string[] {
  return [account === undefined ? server : `${server} (${account})`, issuer, state, scope];
}
