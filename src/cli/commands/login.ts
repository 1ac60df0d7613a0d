// `parley login` and `parley logout`: a person's login at a server, for all commands and gateways of this user.
import { toLoginSettings } from '../../config/apply/login-settings.ts';
import { connectAs } from '../../client/connect.ts';
import type { LoginTarget } from '../../gateway/upstream/login/login-to.ts';
import { loginKey } from '../../gateway/upstream/login/server-login.ts';
import { version } from '../../shared/version.ts';
import { createCliLog } from '../terminal/cli-log.ts';
import type { LoginCommand } from '../args/login-commands.ts';
import { openBrowser } from '../login/open-browser.ts';
import { ownLogin, ownLogins } from '../login/own-logins.ts';
import { loadCommandConfig } from '../trust/load-command-config.ts';
import { displayPath } from '../environment.ts';
import { untilSignal } from '../signals.ts';
import { formatError } from '../terminal/format-error.ts';
import type { Printer } from '../terminal/print.ts';

export async function runLogin(command: LoginCommand, print: Printer): Promise<number> {
  const target = await findTarget(command, print);
  if (!target) return 1;
  return Promise.race([logIn(target, command, print), untilSignal().then(() => 1)]);
}

export async function runLogout(command: LoginCommand, print: Printer): Promise<number> {
  const target = await findTarget(command, print);
  if (!target) return 1;
  const { log, store } = open();
  const isRemoved = store.has(loginKey(target.url, target.login));
  if (isRemoved) await ownLogin(target, { log }).end();
  print.line(isRemoved ? `Logged out of ${target.name}.` : `You were not logged in at ${target.name}.`);
  return 0;
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

/** Undefined if there is no such server; the reason has been printed. */
async function findTarget(command: LoginCommand, print: Printer): Promise<LoginTarget | undefined> {
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
