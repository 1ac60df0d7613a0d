// `parley serve`: the servers of a configuration behind one URL, for all clients; on stdio, too, where it is wished. It imports what
// reads a configuration and no more: the servers start while the code that will speak with them is loaded.
import { enabledServers } from '../../config/config.ts';
import type { ParleyConfig } from '../../config/config.ts';
import type { LoadOptions } from '../../config/read/load-config.ts';
import { prestart } from '../../gateway/upstream/links/prestart.ts';
import type { ServeCommand } from '../command.ts';
import { loadCommandConfig } from '../serve/load-command-config.ts';
import { onFirstMessage } from '../running/first-message.ts';
import { gatewayId, findStartLoop } from '../running/gateway-id.ts';
import type { Printer } from '../terminal/print.ts';
import { untilSignal } from '../signals.ts';

/** Where the gateway listens, once it does. */
export interface OwnListener {
  opened: { host: string; port: number } | undefined;
}

export async function runServe(command: ServeCommand, print: Printer): Promise<number> {
  const own: OwnListener = { opened: undefined };
  const onWarning = (): void => {}; // told as soon as there is a log
  const found = await loadCommandConfig(command.config, print, {
    own: toOwnAddress(command, own),
    share: command.share,
    onWarning,
  });
  if (!found) return 1;
  const id = gatewayId(found.path);
  const round = findStartLoop(found.path);
  if (round !== undefined) {
    print.problem(round);
    return 1;
  }
  startNeeded(command, found.config, id);
  return (await import('../serve/serve-config.ts')).serveConfig(command, { ...found, id, own }, print);
}

/** What was opened counts most. */
export function toOwnAddress(command: ServeCommand, own: OwnListener): NonNullable<LoadOptions['own']> {
  return (listen) => own.opened ?? { host: command.host ?? listen.host, port: chooseTransports(command, listen).port };
}

/**
 * Where clients come in: on a port, if there is one, and on stdin if that is wished or the only way. What the command line says counts
 * more than what the file says.
 */
export function chooseTransports(
  { stdio, port }: ServeCommand,
  listen: { port?: number | undefined; stdio?: boolean | undefined },
): { stdio: boolean; port: number | undefined } {
  const atPort = port ?? (stdio ? undefined : listen.port);
  return { stdio: stdio || listen.stdio === true || atPort === undefined, port: atPort };
}

/** Those that are wanted at once; for a client on stdin all of them, as soon as it speaks. */
function startNeeded(command: ServeCommand, config: ParleyConfig, id: string): void {
  const hasClient = chooseTransports(command, config.listen).stdio;
  const needed = enabledServers(config).filter(([, server]) => hasClient || server.start === 'eager');
  void untilSignal(); // from here on a signal has to end them as well
  for (const [, server] of needed) {
    if (!('command' in server)) void import('../../gateway/upstream/links/streamable-http.ts'); // most of them; read while the rest is
  }
  const start = (): void => {
    for (const [, server] of needed) if ('command' in server) prestart({ ...server, id });
  };
  if (hasClient) onFirstMessage(start);
  else start();
}
