// `parley pair`: shows a code with which a browser is paired with a gateway, lists the paired browsers and removes them. The code goes
// to the gateway by a file that only this user can read, or by the state that it shares; it need not run yet.
import { dirname, resolve } from 'node:path';
import { keyFileIn, readKeyFile } from '../../../mcp/listen/auth/api-keys.ts';
import { FRONT_PATH } from '../../../mcp/listen/auth/auth-options.ts';
import { Pairings, pairingFileIn } from '../../../people/trust/pairings.ts';
import { SHARED_GATEWAY, pairingsInFile, pairingsInState, removeBrowser } from '../../../people/trust/pairing-store.ts';
import type { PairingRecords, PairingStore } from '../../../people/trust/pairing-store.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { DEFAULT_LIMITS } from '../../../kernel/base/limits.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import type { CommandTools, ReachableGateway } from '../../../kernel/command/command-tools.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { toTable } from '../../../kernel/command/table.ts';

interface PairCommand {
  action: 'add' | 'ls' | 'rm';
  /** The name of one. */
  browser: string | undefined;
  user: string | undefined;
  config: string | undefined;
  pid: number | undefined;
  json: boolean;
}

export async function runPair(command: PairCommand, tools: CommandTools): Promise<number> {
  const shared = await tools.openState(command.config);
  if (!shared) return 1;
  const { state, place } = shared;
  const file = pairingFileIn(ownStateFolder());
  const store = state ? pairingsInState(state) : pairingsInFile(file);
  try {
    if (command.action === 'ls') return list(command, await store.read(), tools);
    if (command.action === 'rm') return await remove(command, store, tools.print);
    await store.read(); // before anything is chosen
    return await invite(command, { store, isShared: state !== undefined }, tools);
  } catch (error) {
    tools.print.problem(`${place ?? file} cannot be read: ${(error as Error).message}`);
    return 1;
  } finally {
    await state?.close();
  }
}

async function invite(
  command: PairCommand,
  { store, isShared }: { store: PairingStore; isShared: boolean },
  tools: CommandTools,
): Promise<number> {
  const { print, openBrowser } = tools;
  const found = await chooseGateway(command, tools);
  if (!found) return 1;
  const { gateway, page } = found;
  const problem = command.user === undefined ? undefined : userProblem(command.user, gateway, tools);
  if (problem !== undefined) {
    print.problem(problem);
    return 1;
  }
  const named = isShared ? SHARED_GATEWAY : gateway;
  const pairings = new Pairings({ gateway: named, store, clock: systemClock, limits: DEFAULT_LIMITS });
  const { code, expires } = await pairings.invite(command.user);
  if (command.json) {
    print.line(JSON.stringify({ code, gateway, page, expires: new Date(expires).toISOString() }));
    return 0;
  }
  print.line(code);
  const until = `It works once, until ${new Date(expires).toTimeString().slice(0, 5)}.`;
  if (page === undefined)
    print.note(`Enter it on the page whose link the gateway shows with its first question. ${until}`);
  else [`Enter it on this page. ${until}`, `  ${page}`].forEach((line) => print.note(line));
  if (page !== undefined && process.stderr.isTTY && openBrowser(`${page}?c=${code}`))
    print.note('Your browser shows that page.');
  return 0;
}

interface ChosenGateway {
  /** What it serves. */
  gateway: string;
  page: string | undefined;
}

/** The running gateway, else the one that will serve the configuration. Undefined if there is neither; the reason has been printed. */
async function chooseGateway(
  { config, pid }: PairCommand,
  { print, displayPath, findConfig, findGateway }: CommandTools,
): Promise<ChosenGateway | undefined> {
  const path = findConfig(config);
  const { found, isTold } = await findGateway({ pid, config: path });
  const isMeant = found && (config === undefined || found.serves === path);
  if (isMeant) return { gateway: found.serves, page: pageOf(found) };
  if (path !== undefined && pid === undefined) {
    print.note(`No gateway runs for ${displayPath(path)}; the code works once it does.`);
    return { gateway: path, page: undefined };
  }
  if (!isTold) print.problem('there is no gateway to pair with. Start one: parley serve');
  return undefined;
}

function pageOf({ url, publicUrl }: ReachableGateway): string | undefined {
  return publicUrl === undefined ? url?.replace(/\/mcp$/, '/ask') : `${publicUrl.replace(/\/+$/, '')}/ask`;
}

/** Who may log in, as a configuration says it. What has another type was reported by `parley check`. */
interface WrittenLogins {
  publicUrl?: string;
  auth?: {
    issuers?: (string | { issuer?: string } | undefined)[];
    front?: unknown;
    keyFile?: string;
    keys?: ({ name?: string; user?: string } | undefined)[];
  };
}

/**
 * Why `--user` can be nobody. Where callers log in at an issuer, a user is that issuer with the `sub` of its tokens; a name alone is the user of an
 * API key. Undefined if it can be somebody, or if nothing is known. `path`: the configuration of the gateway.
 */
function userProblem(user: string, path: string, { readConfig }: CommandTools): string | undefined {
  const written: WrittenLogins | undefined = readConfig(path);
  const issuers = written ? issuersOf(written) : [];
  const isKnown = issuers.length === 0 || issuers.some((issuer) => user.startsWith(`${issuer}#`));
  if (isKnown || hasKey(written!, { user: user.replace(/^key:/, ''), folder: dirname(path) })) return undefined;
  const sub = user.slice(user.lastIndexOf('#') + 1);
  return [
    `nobody here can be "${user}". Callers log in at ${issuers.join(' and ')}; such a user is the issuer and the "sub" of its tokens:`,
    `parley pair --user '${issuers[0]}#${sub}'. A name alone is the user of an API key, and no key has this one.`,
  ].join(' ');
}

function issuersOf({ auth = {}, publicUrl }: WrittenLogins): string[] {
  // What is not text has been reported by `parley check`, and is undefined.
  const named = (auth.issuers ?? []).flatMap((one) => (typeof one === 'string' ? one : (one?.issuer ?? [])));
  return auth.front && publicUrl !== undefined ? [...named, publicUrl.replace(/\/+$/, '') + FRONT_PATH] : named;
}

function hasKey({ auth = {} }: WrittenLogins, { user, folder }: { user: string; folder: string }): boolean {
  const file = auth.keyFile === undefined ? keyFileIn(ownStateFolder()) : resolve(folder, auth.keyFile);
  return [...(auth.keys ?? []), ...keysIn(file)].some((key) => (key?.user ?? key?.name) === user);
}

/** A file that cannot be read is not a reason against a user; `parley key` reports it. */
function keysIn(file: string): ReturnType<typeof readKeyFile> {
  try {
    return readKeyFile(file);
  } catch {
    return [];
  }
}

function list({ json }: PairCommand, { browsers }: PairingRecords, { print, displayPath }: CommandTools): number {
  if (json) {
    print.line(JSON.stringify(browsers.map(({ hash: _, ...shown }) => shown)));
    return 0;
  }
  if (browsers.length === 0) print.line('No browser is paired. To pair one: parley pair');
  else {
    const rows = browsers.map(({ name, gateway, user = '-', created }) => [
      name,
      user,
      created.slice(0, 10),
      displayPath(gateway),
    ]);
    for (const line of toTable([['BROWSER', 'USER', 'PAIRED', 'GATEWAY'], ...rows])) print.line(line);
  }
  return 0;
}

async function remove({ browser }: PairCommand, store: PairingStore, print: Printer): Promise<number> {
  const isRemoved = await removeBrowser(store, ({ name }) => name === browser);
  if (!isRemoved) print.problem(`there is no browser called "${browser}". To see them: parley pair ls`);
  return isRemoved ? 0 : 1;
}
