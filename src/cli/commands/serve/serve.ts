// `parley serve`: serves the servers of a configuration to all clients behind one URL, or on stdio. It imports only what reads a
// configuration, so that servers can start while the rest of the code loads.
import { enabledServers, isForFlowsOnly } from '../../../config/config.ts';
import type { CommandServer } from '../../../config/config.ts';
import { partsOf } from '../../../config/read/load-several.ts';
import { prestart, stopUnusedPrestarted } from '../../../mcp/connect/links/server-process.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { ServeCommand } from '../../args/serving-commands.ts';
import { displayPath } from '../../environment.ts';
import { onFirstMessage } from '../../running/first-message.ts';
import { gatewayId, findStartLoop } from '../../running/gateway-id.ts';
import { untilSignal } from '../../signals.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { loadCommandConfig, toProblemLines } from '../../trust/load-command-config.ts';
import type { CommandConfig } from '../../trust/load-command-config.ts';
import { keepReason } from './kept-reason.ts';
import type { OwnListener } from './own-address.ts';
import { toOwnAddress, chooseTransports } from './own-address.ts';

export async function runServe(command: ServeCommand, print: Printer): Promise<number> {
  if (!command.stdio) return serve(command, print);
  const kept = keepReason(print);
  const status = await serve(command, kept);
  // It does nothing if the client was served.
  if (status !== 0) await (await import('./refuse-client.ts')).refuseClient(kept.reason);
  return status;
}

async function serve(command: ServeCommand, print: Printer): Promise<number> {
  const own: OwnListener = { opened: undefined };
  const onWarning = (): void => {}; // reported once the log exists
  const found = await loadCommandConfig(command.config, print, {
    besides: command.besides,
    own: toOwnAddress(command, own),
    share: command.share,
    onWarning,
  });
  if (!found) return 1;
  if (isForFlowsOnly(found.config)) {
    for (const line of toProblemLines(found)) print.note(line);
    print.problem('there is nothing to serve.');
    return 1;
  }
  const id = gatewayId(found.path);
  const round = partsOf(found)
    .map(({ path }) => findStartLoop(path))
    .find((reason) => reason !== undefined);
  if (round !== undefined) {
    print.problem(round);
    return 1;
  }
  startNeeded(command, found, id);
  try {
    return await (await import('./serve-config.ts')).serveConfig(command, { ...found, id, own }, print);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.code !== 'BAD_OPTION') throw thrown;
    print.problem(
      `${displayPath(found.path)}: ${(await import('../../terminal/format-error.ts')).formatError(thrown)}`,
    );
    await stopUnusedPrestarted();
    return 1;
  }
}

/** Starts the eager servers at once. With a client on stdin, starts all servers at its first message. */
function startNeeded(command: ServeCommand, { config, checkStart }: CommandConfig, id: string): void {
  const hasClient = chooseTransports(command, config.listen).stdio;
  const needed = enabledServers(config).filter(
    ([, server]) => (hasClient || server.start === 'eager') && server.placement !== 'one',
  );
  void untilSignal(); // from here on a signal must end the servers, too
  for (const [, server] of needed) {
    if (!('command' in server)) void import('../../../mcp/connect/links/streamable-http.ts'); // most URLs use it; load it while other files load
  }
  // The first message may come long after the file was judged. Opening the server says why it does not start.
  const isAsTrusted = ({ command: name, args, env, cwd }: CommandServer): boolean => {
    try {
      checkStart?.({ command: name, args: [...args], env: { ...env }, cwd });
      return true;
    } catch {
      return false;
    }
  };
  const start = (): void => {
    for (const [, server] of needed) if ('command' in server && isAsTrusted(server)) prestart({ ...server, id });
  };
  if (hasClient) onFirstMessage(start);
  else start();
}
