// Lets a command go on only with a configuration that is trusted, or that the user trusts now.
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { displayPath, readEnvironment } from '../environment.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { acceptTrust } from './accept-trust.ts';
import { isUsable, whyNot, whyUnbound, howTo } from './judge-trust.ts';

function toTighterLine({ path }: LoadedConfig): string {
  return `${displayPath(path)} has changed since you trusted it, and only takes away: it applies.`;
}

/** False if it is not trusted; then the reason has been printed. On a terminal it asks. */
export async function requireTrust(loaded: LoadedConfig, print: Printer): Promise<boolean> {
  const verdict = await acceptTrust(loaded, readEnvironment());
  if (verdict === 'tighter') print.note(toTighterLine(loaded));
  if (isUsable(verdict)) return true;
  print.problem(verdict === 'unbound' ? whyUnbound(loaded) : whyNot(loaded.path!, verdict));
  if (verdict === 'unbound') return false;
  if (await (await import('./offer-trust.ts')).offerTrust(loaded, print)) return true;
  print.note(howTo(loaded.path!));
  return false;
}
