// What tells one server from another.
import type { Address } from './address.ts';

/** What decides which program answers. Variables and headers do not: they hold secrets that change. */
export function addressText(address: Address): string {
  if (typeof address === 'string' || address instanceof URL) return String(address);
  if ('command' in address) return JSON.stringify([address.command, ...(address.args ?? [])]);
  return 'url' in address ? String(address.url) : 'transport';
}
