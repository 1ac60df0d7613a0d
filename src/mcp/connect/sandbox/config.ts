// `sandbox` in the entry of a server.
import { resolve } from 'node:path';
import { defineKey } from '../../../kernel/config/config-key.ts';
import { either, flag, list, object, text } from '../../../kernel/config/shape.ts';
import { withoutUndefined } from '../../../kernel/config/without-undefined.ts';
import type { SandboxOptions } from './sandbox-options.ts';

export interface SandboxInput extends Omit<SandboxOptions, 'write' | 'hosts'> {
  write?: string[] | undefined;
  hosts?: string[] | undefined;
}

const SHAPE = either(
  [
    object(
      {
        write: list(
          text('A path.'),
          'Files and folders that it may change, relative to this file. Everything else can only be read.',
        ),
        hosts: list(
          text('A host.'),
          'Hosts that it may reach, such as `api.example.com` or `*.example.com`; `*`: all. Default: none.',
        ),
        image: text('Run it in a container of this image, by docker.', { notEmpty: true }),
        optional: flag(
          'true: the server starts without a sandbox if the machine has no sandbox. Default: it does not start.',
        ),
      },
      'What it may do.',
    ),
    flag('true: it may change no files and reach no hosts.'),
  ],
  'Run the command in a sandbox of the machine (docs/safety.md). Default: no sandbox.',
);

const key = defineKey({
  shape: SHAPE,
  /** Paths become absolute. */
  normalize(input: SandboxInput | boolean | undefined, folder): SandboxOptions | true | undefined {
    if (typeof input !== 'object') return input || undefined;
    const { write, ...rest } = input;
    return withoutUndefined({ ...rest, write: write?.map((path) => resolve(folder, path)) });
  },
  apply: 'restart',
  quiet: [],
});

export const sandboxKey = {
  ...key,
  /** No sandbox can open what does not exist. */
  neededPaths(input: SandboxInput | boolean | undefined) {
    const { write = [] } = typeof input === 'object' ? input : {};
    // What is not text has been reported.
    return write.flatMap((written, index) => (typeof written === 'string' ? [{ at: ['write', index], written }] : []));
  },
};
