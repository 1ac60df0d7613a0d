// The login of `parley wrap` at a server with a URL. At the first 401 the link is printed and opened. A client that cannot wait that long gets the link,
// and finds the server ready when it comes back.
import type { Log } from '../../../kernel/base/log.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { loginAddress } from '../../../mcp/connect/accounts/login-address.ts';
import type { ServerLogin } from '../../../mcp/connect/accounts/server-login.ts';
import type { CommandAddress, UrlAddress } from '../../../mcp/connect/address.ts';
import { ownLogin } from '../../login/own-logins.ts';

export interface WrapLogin {
  /** Undefined for a server without HTTP. */
  login: ServerLogin | undefined;
  /** The error for clients while nobody has logged in; undefined at all other times. */
  readonly request: string | undefined;
}

export function createWrapLogin(
  name: string,
  server: CommandAddress | UrlAddress,
  { print, log }: { print: Printer; log: Log },
): WrapLogin {
  const { url, auth: login } = loginAddress(server) ?? {};
  if (url === undefined) return { login: undefined, request: undefined };
  let request: string | undefined;
  const show = async (link: string): Promise<void> => {
    request = `${name} needs a login. Open ${link}, log in, then connect again. The link works for ten minutes, and only while this command runs.`;
    print.news(`${name} needs a login. Open this link, while this command runs:\n  ${link}`);
    (await import('../../login/open-browser.ts')).openBrowser(link);
  };
  const done = (): void => (request = undefined);
  return {
    login: ownLogin({ url, name, login }, { log, show, done }),
    get request() {
      return request;
    },
  };
}
