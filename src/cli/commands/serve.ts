// `parley serve`: the servers of a configuration behind one URL, for all clients; on stdio, too, where it is wished. It imports what
// reads a configuration and no more: the servers start while the code that will speak with them is loaded.
import { enabledServers } from '../../config/config.ts';
import type { ParleyConfig } from '../../config/config.ts';
import { startAhead } from '../../gateway/upstream/head-start.ts';
import type { ServeCommand } from '../command.ts';
import { configured } from '../configured.ts';
import type { Printer } from '../print.ts';
import { untilSignal } from '../signals.ts';

export async function serve(command: ServeCommand, print: Printer): Promise<number> {
  const found = configured(command.config, print);
  if (!found) return 1;
  startNeeded(command, found.config);
  return (await import('../serve-configured.ts')).serveConfigured(command, found, print);
}

/** Those that are wanted at once, and all where the client is there already: its first word needs them. */
function startNeeded({ stdio, port }: ServeCommand, config: ParleyConfig): void {
  const { listen } = config;
  const hasClient = stdio || listen.stdio || (port ?? listen.port) === undefined;
  const needed = enabledServers(config).filter(([, server]) => hasClient || server.start === 'eager');
  void untilSignal(); // from here on a signal has to end them as well
  for (const [, server] of needed) {
    if ('command' in server) startAhead(server);
    else void import('../../gateway/upstream/streamable-http.ts'); // most of them; read while the rest is
  }
}
