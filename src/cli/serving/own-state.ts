// The state that the gateways of a configuration share, for commands that change what is in it.
import type { OpenedState } from '../../kernel/command/command-tools.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { openSharedState } from '../../kernel/state/open-shared-state.ts';
import { loadConfig } from '../../config/read/load-config.ts';
import { printConfig } from '../../config/redact-config.ts';
import { displayPath, readEnvironment } from '../environment.ts';
import { programName } from '../program.ts';
import { requireTrust } from '../trust/require-trust.ts';

/** Nothing where no configuration is found, or where it names no state. Undefined if it cannot be opened: that was printed. */
export async function openOwnState(named: string | undefined, print: Printer): Promise<OpenedState | undefined> {
  const loaded = loadConfig(named, readEnvironment());
  const { config } = loaded;
  if (!config && loaded.read?.input.state !== undefined) {
    print.problem(`${displayPath(loaded.path)} names a state, and cannot be used. To see why: ${programName()} check`);
    return undefined;
  }
  if (config?.state === undefined) return {};
  // Its variables may be secrets, which an untrusted file would send elsewhere.
  if (!(await requireTrust(loaded, print))) return undefined;
  const { state } = JSON.parse(printConfig(config, loaded.used)) as { state: string };
  try {
    const keys = config.keys.length > 0 ? config.keys : undefined;
    return { state: await openSharedState(config.state, { keys }), place: state };
  } catch (error) {
    print.problem(`${state} cannot be opened: ${(error as Error).message}`);
    return undefined;
  }
}
