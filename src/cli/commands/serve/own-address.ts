// Where a gateway listens: by the command line and the configuration, and really.
import type { LoadOptions } from '../../../config/read/load-config.ts';
import type { ServeCommand } from '../../args/serving-commands.ts';

/** The address of the gateway, once it listens. */
export interface OwnListener {
  opened: { host: string; port: number } | undefined;
}

/** The address that is really open wins over the configured one. */
export function toOwnAddress(command: ServeCommand, own: OwnListener): NonNullable<LoadOptions['own']> {
  return (listen) => own.opened ?? { host: command.host ?? listen.host, port: chooseTransports(command, listen).port };
}

/**
 * Which transports to open: a port if there is one, and stdio if it is requested or the only one left. The command line wins over the file.
 */
export function chooseTransports(
  { stdio, port }: ServeCommand,
  listen: { port?: number | undefined; stdio?: boolean | undefined },
): { stdio: boolean; port: number | undefined } {
  const atPort = port ?? (stdio ? undefined : listen.port);
  return { stdio: stdio || listen.stdio === true || atPort === undefined, port: atPort };
}
