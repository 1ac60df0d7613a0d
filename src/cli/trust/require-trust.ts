// Lets a command go on only with a configuration that is trusted, or that the user trusts now.
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { readEnvironment } from '../environment.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { judgeTrust, isUsable, whyNot, whyUnbound, howTo } from './judge-trust.ts';

/** False if it is not trusted; then the reason has been printed. On a terminal it asks. */
export async function requireTrust(loaded: LoadedConfig, print: Printer): Promise<boolean> {
  const verdict = judgeTrust(loaded, readEnvironment());
  if (isUsable(verdict)) return true;
  print.problem(verdict === 'unbound' ? whyUnbound(loaded) : whyNot(loaded.path!, verdict));
  if (verdict === 'unbound') return false;
  if (await (await import('./offer-trust.ts')).offerTrust(loaded, print)) return true;
  print.note(howTo(loaded.path!));
  return false;
}
