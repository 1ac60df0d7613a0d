// The URL and the login of an address.
import type { Address } from '../address.ts';
import type { LoginOptions } from './login-options.ts';

/** The URL and login of an address with HTTP; undefined for others. */
export function loginAddress(address: Address): { url: URL; auth: LoginOptions | undefined } | undefined {
  const isBare = typeof address === 'string' || address instanceof URL;
  const { url, auth } = isBare ? { url: address, auth: undefined } : 'url' in address ? address : {};
  if (url === undefined || !/^https?:/i.test(String(url)) || !URL.canParse(String(url))) return undefined;
  return { url: new URL(url), auth };
}
