// Parses the address of a server and lists the links that may reach it, in the order to try them.
import type { Clock } from '../../kernel/base/clock.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { Limits } from '../../kernel/base/limits.ts';
import type { Log } from '../../kernel/base/log.ts';
import { atOnce } from '../../kernel/base/stray-promises.ts';
import { registerArgumentSecrets, registerSecret, registerUrlSecrets } from '../../kernel/secrets/secret-shapes.ts';
import type { Link } from './links/link.ts';
import type { ServerLogin } from './accounts/server-login.ts';
import type { CommandAddress, UrlAddress, Address } from './address.ts';
import type { UrlLink } from './url-link.ts';
import { URL_LINKS, linksOf, onlyLinkOf, schemesWith } from './url-links.ts';

export interface Route {
  /** Creates a new link. Each kind of link loads its code on first use, so a program that uses no HTTP starts faster. */
  open(): Link | Promise<Link>;
  /** Whether the link can be opened again: a server may die of a request that it does not know. False for a Transport object. */
  canReopen: boolean;
  /** The route to try when this one fails: servers of 2024-11-05 use another transport at the same URL. */
  fallback?: Route;
}

interface RouteOptions {
  limits: Limits;
  log: Log;
  clock?: Clock | undefined;
  /** The id of the gateway that opens the link (kernel/base/via.ts). */
  id?: string | undefined;
  login?: ServerLogin | undefined;
  /** Throws if the command must not be started as it is now. */
  checkStart?: ((address: CommandAddress) => void) | undefined;
}

export function routeTo(address: Address, options: RouteOptions): Route {
  keepSecrets(address);
  if (typeof address === 'string' || address instanceof URL) return urlRoute({ url: address }, options);
  if ('command' in address) {
    const { checkStart, ...rest } = options;
    const check = checkStart && ((): void => atOnce('checkStart', checkStart(address)));
    const open = async () =>
      (await import('./links/stdio.ts')).createStdioLink({ ...address, ...rest, checkStart: check });
    return { open, canReopen: true };
  }
  if ('url' in address) return urlRoute(address, options);
  if ('start' in address && 'send' in address) {
    const open = async () => (await import('./links/sdk-transport.ts')).createTransportLink(address, options.limits);
    return { open, canReopen: false };
  }
  throw new GatewayError('BAD_OPTION', {
    option: 'server',
    reason: 'give a URL, { command, args }, { url } or a Transport',
  });
}

/** Keeps the secrets of the address out of errors, logs and status. */
function keepSecrets(address: Address): void {
  if (typeof address === 'string' || address instanceof URL) return registerUrlSecrets(String(address));
  if ('command' in address) {
    registerArgumentSecrets(address.args ?? []);
    for (const [name, value] of Object.entries(address.env ?? {})) registerSecret(name, value);
  }
  if (!('url' in address)) return;
  registerUrlSecrets(String(address.url));
  for (const [name, value] of Object.entries(address.headers ?? {})) registerSecret(name, value);
  const { clientSecret, clientKey, assertion, idp } = address.auth ?? {};
  for (const value of [clientSecret, clientKey, assertion, idp?.clientSecret, idp?.idToken])
    if (typeof value === 'string') registerSecret('secret', value);
}

function urlRoute({ url, headers, transport }: UrlAddress, { limits, log, clock, id, login }: RouteOptions): Route {
  const parsed = toUrl(url);
  const options = { url: String(parsed), headers, limits, log, clock, id, login };
  const toRoute = ([first, ...others]: readonly UrlLink[]): Route => ({
    open: () => first!.open(options),
    canReopen: true,
    ...(others.length > 0 && { fallback: toRoute(others) }),
  });
  const fitting = linksOf(parsed.protocol);
  const isChosen = transport !== undefined && !onlyLinkOf(parsed.protocol);
  return toRoute(isChosen ? URL_LINKS.filter((one) => one.transport === transport) : fitting);
}

function toUrl(url: string | URL): URL {
  if (!URL.canParse(String(url))) {
    throw new GatewayError('BAD_OPTION', { option: 'url', reason: `"${withoutLogin(String(url))}" is not a URL` });
  }
  const parsed = new URL(url);
  if (linksOf(parsed.protocol).length > 0) return parsed;
  throw new GatewayError('BAD_OPTION', { option: 'url', reason: `${parsed.protocol} is not ${schemesWith('')}` });
}

/** The text before an @ may be a password. */
function withoutLogin(text: string): string {
  return text.replace(/[^/@]*@/g, '…@');
}
