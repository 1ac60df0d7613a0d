// Compares the code of a server with what was trusted, each time before its command is started: a script may change while the gateway runs, and
// servers are started again after a crash, after a pause, and for other clients.
import { dirname } from 'node:path';
import type { CommandAddress } from '../../gateway/upstream/address.ts';
import { GatewayError } from '../../shared/errors.ts';
import { readEnvironment } from '../environment.ts';
import { sourcesOfCommand } from './command-sources.ts';
import { digestOfFile } from './judge-trust.ts';
import { isOwnConfig } from './own-files.ts';
import { readTrusted } from './trusted-files.ts';

/** For the servers of this configuration. Throws if the code has changed. Undefined if it needs no trust. */
export function createStartCheck(path: string): ((address: CommandAddress) => void) | undefined {
  if (isOwnConfig(path, readEnvironment())) return undefined;
  return (address) => {
    const trusted = readTrusted()[path]?.files ?? {};
    for (const [file, content] of sourcesOfCommand(address, dirname(path))) {
      if (trusted[file] !== digestOfFile(content))
        throw new GatewayError('UPSTREAM_UNTRUSTED', { server: address.command });
    }
  };
}
