// Which login a command asks for: the one of the configuration; on loopback the token of this user, or one of their API keys; where others can reach the port, the
// API keys alone.
import { join } from 'node:path';
import { keyFileIn, readKeyFile } from '../../mcp/listen/auth/api-keys.ts';
import type { AuthOptions } from '../../mcp/listen/auth/auth-options.ts';
import { isLoopback } from '../../mcp/listen/guard.ts';
import { ownToken } from '../running/gateway-token.ts';
import { ownStateFolder } from '../../kernel/secrets/own-folders.ts';

interface LoginWish {
  /** The address to listen on; undefined for stdio alone. */
  host: string | undefined;
  open: boolean;
  auth?: AuthOptions | undefined;
  /** It shares a state with others, where keys can be. */
  isShared?: boolean | undefined;
}

/** Undefined: everybody may call. Then a port that others can reach is refused, unless it is to be open. */
export function chooseLogin({ host, open, auth, isShared = false }: LoginWish): AuthOptions | undefined {
  if (auth) return { ...auth, keyFile: auth.keyFile ?? keyFileIn(ownStateFolder()), ...frontOf(auth) };
  if (host === undefined || open) return undefined;
  const keyFile = keyFileIn(ownStateFolder());
  if (isLoopback(host)) return { token: ownToken(), keyFile };
  return isShared || readKeyFile(keyFile).length > 0 ? { keyFile } : undefined;
}

/** Whether clients can log in by a key only. Elsewhere they find their own way to a token. */
export function asksKey(auth: AuthOptions | undefined): boolean {
  if (!auth || auth.token !== undefined) return false;
  return auth.front === undefined && (auth.issuers?.length ?? 0) === 0;
}

/** What an authorization server in front keeps is in the user's state folder. */
function frontOf({ front }: AuthOptions): Pick<AuthOptions, 'front'> {
  return front ? { front: { ...front, folder: front.folder ?? join(ownStateFolder(), 'front') } } : {};
}
