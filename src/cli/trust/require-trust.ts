// Stops a command before it starts, imports or contacts anything that a configuration names which the user has not trusted. On a terminal it asks.
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { readEnvironment, displayPath } from '../environment.ts';
import type { Printer } from '../terminal/print.ts';
import { programName } from '../program.ts';
import { isUsable, judgeTrust } from './judge-trust.ts';
import type { TrustVerdict } from './judge-trust.ts';

/** False if it is not trusted; then the reason has been printed. */
export async function requireTrust(loaded: LoadedConfig, print: Printer): Promise<boolean> {
  const verdict = judgeTrust(loaded, readEnvironment());
  if (isUsable(verdict)) return true;
  print.problem(whyNot(loaded.path!, verdict));
  if (await (await import('../commands/trust.ts')).offerTrust(loaded, print)) return true;
  print.note(howTo(loaded.path!));
  return false;
}

export function whyNot(path: string, verdict: TrustVerdict): string {
  const what = displayPath(path);
  return verdict === 'changed'
    ? `${what} has changed since you trusted it, or code that it runs has, or an env file.`
    : `${what} is not trusted yet: nothing of it is started.`;
}

export function howTo(path: string): string {
  return `If you know where it comes from: ${programName()} trust ${quoted(displayPath(path))}`;
}

function quoted(path: string): string {
  return /^[\w@%+=:,./~-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
