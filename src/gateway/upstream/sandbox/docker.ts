// A container of the image that the configuration names. The command is one of the image. The named paths have the same names inside; the network is there or not.
import type { ServerCommand } from '../links/prestart.ts';
import type { SandboxOptions, SandboxedCommand } from './sandbox.ts';

const FLAGS =
  'run --rm --interactive --init --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges'.split(' ');

export function toDocker(docker: string, server: ServerCommand, wanted: SandboxOptions): SandboxedCommand {
  const { command, args = [], env = {}, cwd } = server;
  const { write = [], hosts = [], image = '' } = wanted;
  return {
    command: docker,
    args: [
      ...FLAGS,
      ...(hosts.length > 0 ? [] : ['--network', 'none']),
      // By name: values on a command line can be seen by every user of the machine.
      ...Object.keys(env).flatMap((name) => ['--env', name]),
      ...(cwd === undefined ? [] : ['--volume', `${cwd}:${cwd}:ro`, '--workdir', cwd]),
      ...write.flatMap((path) => ['--volume', `${path}:${path}`]),
      image,
      command,
      ...args,
    ],
  };
}
