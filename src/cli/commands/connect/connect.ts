// `parley connect`: moves the servers of clients to Parley's own configuration, and puts Parley in their place. What will change is shown first, and only
// files that still have the bytes that were shown are written.
import { dirname } from 'node:path';
import { existsSync } from 'node:fs';
import { clientTable } from '../../../config/client-table.ts';
import { installedClients, placeOf } from '../../../config/read/client-places.ts';
import type { ClientPlace } from '../../../config/read/client-places.ts';
import type { Environment } from '../../../config/read/find-config.ts';
import { withFileLock } from '../../../kernel/files/file-lock.ts';
import { stateFolder } from '../../../kernel/secrets/own-folders.ts';
import type { ConnectCommand } from '../../args/connect-commands.ts';
import { displayPath, readEnvironment } from '../../environment.ts';
import { programName, toLaunchCommand } from '../../program.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { isConfirmed } from '../../terminal/terminal.ts';
import { applyPlans } from './apply-plans.ts';
import type { ConnectPlan, OwnPlan } from './apply-plans.ts';
import { UneditableFile } from './client-edit.ts';
import { Ledger } from './ledger.ts';
import { addToOwnConfig, ownConfigPath, requireUsable } from './own-config.ts';
import { planClient } from './plan-client.ts';
import type { ClientPlan, Launch } from './plan-client.ts';
import { FileChanged, readBytes } from './safe-file.ts';
import { secretsIn, showDiff } from './show-diff.ts';
import { undoConnect } from './undo.ts';

const LOCK_MS = 30_000;
/** How often a file may change while it is looked at. */
const MAX_TRIES = 5;

export async function runConnect(command: ConnectCommand, print: Printer): Promise<number> {
  const environment = readEnvironment();
  const { clients, isDryRun } = command;
  try {
    if (command.isUndo) return await locked(environment, () => undoConnect({ clients, isDryRun, environment }, print));
    for (let tries = 1; ; tries++) {
      const done = await connectOnce(command, environment, print);
      if (done !== 'changed') return done;
      if (tries === MAX_TRIES)
        throw new Error('the files change again and again. Close the clients, and try once more');
      print.note('A file has changed in the meantime. Once more:');
    }
  } catch (thrown) {
    print.problem(`${(thrown as Error).message}.`);
    return 1;
  }
}

function locked<T>(environment: Environment, work: () => T): Promise<T> {
  const { lockPath: path } = new Ledger(stateFolder(environment));
  const onLate = (): Error => new Error('another "parley connect" is at work. Wait for it');
  return withFileLock({ path, waitMs: LOCK_MS, onLate }, async () => work());
}

async function connectOnce(
  command: ConnectCommand,
  environment: Environment,
  print: Printer,
): Promise<number | 'changed'> {
  const { places, failures: missing } = choosePlaces(command, environment, print);
  const { plans, failures } = planAll(places, environment, print);
  const status = missing + failures > 0 ? 1 : 0;
  // A client without servers gets Parley only if the user names it.
  const isNamed = command.clients.length > 0;
  const wanted = plans.filter(({ text, changed, moved }) => text !== changed && (isNamed || moved.length > 0));
  if (wanted.length === 0) {
    print.line(
      status === 0 ? 'Nothing to do: every client here leads to Parley, or has no servers.' : 'Nothing was changed.',
    );
    return status;
  }
  const plan = { own: planOwn(wanted, environment), clients: wanted };
  showPlan(plan, print);
  if (command.isDryRun) {
    print.line(
      `Nothing was changed. To do it: ${programName()} connect${command.clients.map((one) => ` ${one}`).join('')}`,
    );
    return status;
  }
  if (!(await isAgreed(command, print))) return 1;
  const failed = await applied(plan, environment);
  if (failed === 'changed') return 'changed';
  tellDone(plan, failed, print);
  return failed.size > 0 ? 1 : status;
}

/** The named ones, else all that have a file which the table is sure of. */
function choosePlaces(
  { clients }: ConnectCommand,
  environment: Environment,
  print: Printer,
): { places: ClientPlace[]; failures: number } {
  if (clients.length === 0) {
    const all = installedClients(environment);
    for (const { client, path } of all.filter((one) => one.exists && !one.isVerified))
      print.note(
        `${client.name}: name it to connect it (${client.id}); whether it reads ${displayPath(path)} is not sure.`,
      );
    return {
      places: all.filter((one) => one.exists && one.isVerified && one.client.readOnly === undefined),
      failures: 0,
    };
  }
  const places: ClientPlace[] = [];
  for (const id of clients) {
    const client = clientTable().find((one) => one.id === id)!;
    const place = placeOf(client, environment);
    if (client.readOnly !== undefined) print.problem(client.readOnly);
    else if (!place) print.problem(`${client.name} is not installed here: none of its folders is there.`);
    else places.push(place);
  }
  return { places, failures: clients.length - places.length };
}

function planAll(
  places: ClientPlace[],
  environment: Environment,
  print: Printer,
): { plans: ClientPlan[]; failures: number } {
  const launch = toLaunch(environment);
  const plans: ClientPlan[] = [];
  for (const place of places) {
    try {
      const plan = planClient(place, launch, environment);
      plans.push(plan);
      tellKept(plan, print);
    } catch (thrown) {
      print.problem(`${place.client.name} is left as it is: ${displayPath(place.path)}: ${(thrown as Error).message}.`);
    }
  }
  return { plans, failures: places.length - plans.length };
}

function tellKept({ place, kept, moved }: ClientPlan, print: Printer): void {
  for (const { name, reason, isParley } of kept)
    if (!isParley) print.note(`${place.client.name}: ${name} stays there, as ${reason}.`);
  for (const { name, left } of moved)
    if (left.length > 0) print.note(`${place.client.name}: ${name}: ${left.join(', ')} has no effect in Parley.`);
}

/** A desktop application has a short PATH, so Node is named by its path. */
function toLaunch(environment: Environment): Launch {
  const { command, args } = toLaunchCommand(['serve', ownConfigPath(environment), '--stdio']);
  if (command === 'node') return { command: process.execPath, args };
  return environment.platform === 'win32' ? { command: 'cmd', args: ['/c', command, ...args] } : { command, args };
}

function planOwn(clients: ClientPlan[], environment: Environment): OwnPlan {
  const path = ownConfigPath(environment);
  const before = readBytes(path);
  const text = before?.toString('utf8').replace(/^\uFEFF/, '');
  const wanted = clients.flatMap(({ moved, place }) =>
    moved.map(({ name, server }) => ({ name, server, from: place.client.id })),
  );
  try {
    const added = addToOwnConfig({ path, text }, wanted);
    requireUsable(path, added.text, environment);
    const isSame = added.text === text && before !== undefined;
    return { path, before, after: isSame ? before : Buffer.from(added.text) };
  } catch (thrown) {
    if (!(thrown instanceof UneditableFile)) throw thrown;
    throw new Error(
      `${displayPath(path)}: ${thrown.message}. Correct it: ${programName()} check ${displayPath(path)}`,
      {
        cause: thrown,
      },
    );
  }
}

function showPlan({ own, clients }: ConnectPlan, print: Printer): void {
  const secrets = new Set(clients.flatMap(({ moved }) => moved.flatMap(({ server }) => [...secretsIn(server)])));
  for (const { place, text, changed } of clients)
    showDiff({ path: displayPath(place.path), before: text, after: changed, secrets }, print);
  const [before, after] = [own.before, own.after].map((bytes) => bytes?.toString('utf8') ?? '') as [string, string];
  if (before !== after) showDiff({ path: displayPath(own.path), before, after, secrets }, print);
}

async function isAgreed({ isSure }: ConnectCommand, print: Printer): Promise<boolean> {
  if (isSure) return true;
  if (!process.stdin.isTTY) {
    print.problem(`nobody can be asked here. To do it without a question, add --yes; to look only, --dry-run`);
    return false;
  }
  if (await isConfirmed('Change these files?')) return true;
  print.line('Nothing was changed.');
  return false;
}

async function applied(plan: ConnectPlan, environment: Environment): Promise<Map<ClientPlan, Error> | 'changed'> {
  try {
    return await locked(environment, () => applyPlans(plan, environment));
  } catch (thrown) {
    if (thrown instanceof FileChanged) return 'changed';
    throw thrown;
  }
}

function tellDone({ own, clients }: ConnectPlan, failed: Map<ClientPlan, Error>, print: Printer): void {
  for (const plan of clients) {
    const { place, moved } = plan;
    const error = failed.get(plan);
    if (error) print.problem(`${place.client.name} is left as it is: ${displayPath(place.path)}: ${error.message}.`);
    else print.line(`${place.client.name} starts Parley now (${count(moved.length)} moved). Restart it.`);
  }
  print.line(`The servers are in ${displayPath(own.path)}. To take it back: ${programName()} connect --undo`);
  if (!existsSync(dirname(own.path))) print.problem(`${dirname(own.path)} is gone.`);
}

function count(servers: number): string {
  return `${servers} server${servers === 1 ? '' : 's'}`;
}
