// The address of a server, as users give it.
import type { Transport } from '@modelcontextprotocol/client';
import type { ConfinementOptions } from './confinement-options.ts';
import type { LoginOptions } from './accounts/login-options.ts';

export interface CommandAddress extends ConfinementOptions {
  command: string;
  args?: string[] | undefined;
  env?: Record<string, string> | undefined;
  cwd?: string | undefined;
}

/** See url-links.ts. */
export type UrlTransport = 'streamable-http' | 'http+sse' | 'websocket';

export interface UrlAddress {
  /** http(s)://… or ws(s)://… */
  url: string | URL;
  headers?: Record<string, string> | undefined;
  /** Default: detected. */
  transport?: UrlTransport | undefined;
  /** How to log in at the server. */
  auth?: LoginOptions | undefined;
}

export type Address = string | URL | CommandAddress | UrlAddress | Transport;

export function isCommandAddress(address: Address | object): address is CommandAddress {
  return typeof address === 'object' && 'command' in address;
}
