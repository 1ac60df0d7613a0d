// Which requests get the token of this user: those to gateways of this user that ask for it.
import { ownStateFolder } from '../../kernel/secrets/own-folders.ts';
import { readToken } from './gateway-token.ts';

/** For the URL of a running gateway of this user that asks for the token; undefined for all others, who must not get it. */
export async function tokenFor(url: string | URL, ms?: number): Promise<string | undefined> {
  const { findGatewayAt } = await import('./find-gateway.ts');
  const folder = ownStateFolder();
  const found = await findGatewayAt(folder, String(url), ms);
  return found?.asksToken === true ? readToken(folder) : undefined;
}

/** The headers for a URL, with the token where a gateway of this user asks for it. */
export async function withOwnToken(
  url: string,
  { headers, ms }: { headers: Record<string, string>; ms?: number | undefined },
): Promise<Record<string, string>> {
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) return headers;
  const token = await tokenFor(url, ms);
  return token === undefined ? headers : { ...headers, Authorization: `Bearer ${token}` };
}
