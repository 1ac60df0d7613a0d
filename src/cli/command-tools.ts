// What commands of features get: this program's printer, its way to find configurations and gateways, and its user.
import { enabledServers } from '../config/config.ts';
import { findConfig } from '../config/read/find-config.ts';
import { loadConfig } from '../config/read/load-config.ts';
import type { CommandTools, GatewayFinding, UsableConfig } from '../kernel/command/command-tools.ts';
import type { Printer } from '../kernel/command/printer.ts';
import { ownStateFolder } from '../kernel/secrets/own-folders.ts';
import { displayPath, readEnvironment } from './environment.ts';
import { openBrowser } from './login/open-browser.ts';
import { programName } from './program.ts';
import { askConsoleLink } from './running/control-socket.ts';
import { findGateway } from './running/find-gateway.ts';
import { untilSignal } from './signals.ts';
import { isConfirmed } from './terminal/terminal.ts';
import { toMissingLines, toProblemLines } from './trust/load-command-config.ts';

/** A gateway on stdio opens a port for it first. */
const LINK_MS = 5000;

export function createCommandTools(print: Printer): CommandTools {
  return {
    print,
    program: programName(),
    displayPath,
    confirm: isConfirmed,
    ended: untilSignal,
    openBrowser,
    findConfig: (named) => findConfig(named, readEnvironment()).path,
    readConfig: (path) => loadConfig(path, readEnvironment()).read?.input,
    loadConfig: (named) => loadUsable(named, print),
    openState: async (named) => (await import('./serving/own-state.ts')).openOwnState(named, print),
    findGateway: (wanted) => findReachable(wanted, print),
  };
}

async function findReachable(
  wanted: Parameters<CommandTools['findGateway']>[0],
  print: Printer,
): Promise<GatewayFinding> {
  const { found, isTold } = await findGateway(ownStateFolder(), print, { ...wanted, hasUrl: false });
  return { found: found && { ...found, consoleLink: () => askConsoleLink(found.socket, LINK_MS) }, isTold };
}

function loadUsable(named: string | undefined, print: Printer): UsableConfig | undefined {
  const { path, config, problems } = loadConfig(named, readEnvironment());
  if (config && path !== undefined) return { servers: enabledServers(config).map(([name]) => name), keys: config };
  if (path === undefined) print.problem('no configuration was found: none was named, and none is here.');
  for (const line of path === undefined ? toMissingLines() : toProblemLines({ path, problems })) print.note(line);
  return undefined;
}
