// Where the server behind `parley wrap` is: as it was given, a command with the environment that it would have had without us.
import type { CommandAddress, UrlAddress } from '../../gateway/upstream/address.ts';
import { toInheritedEnv } from './inherited-env.ts';

export function toWrappedAddress(server: CommandAddress | UrlAddress): CommandAddress | UrlAddress {
  return 'command' in server ? { ...server, env: toInheritedEnv(server.env) } : server;
}
