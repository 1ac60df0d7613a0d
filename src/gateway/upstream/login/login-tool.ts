// The one tool of a server that shows nothing until somebody has logged in. Calling it is how a conversation begins the login.
import type { JsonObject } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';

export const LOGIN_TOOL = 'login';

export function loginTool(server: string): JsonObject {
  return {
    name: LOGIN_TOOL,
    title: `Log in at ${server}`,
    description: `${server} needs a login before its tools can be used. Call this tool when the user wants to use ${server}: it gives the user a link, and the tools of ${server} follow once they have logged in.`,
    inputSchema: { type: 'object', properties: {} },
  };
}

export function loggedIn(server: string): JsonObject {
  return {
    content: [{ type: 'text', text: `The user is logged in at ${server}. List the tools again to see its tools.` }],
  };
}

export function isLoginNeeded(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.code === 'UPSTREAM_LOGIN_NEEDED';
}
