// The address of the wrapped server: a command gets the environment that it would have without Parley.
import type { CommandAddress, UrlAddress } from '../../gateway/upstream/address.ts';
import { toInheritedEnv } from './inherited-env.ts';

export function toWrappedAddress(server: CommandAddress | UrlAddress): CommandAddress | UrlAddress {
  return 'command' in server ? { ...server, env: toInheritedEnv(server.env) } : server;
}
