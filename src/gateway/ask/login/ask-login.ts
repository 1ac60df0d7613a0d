// Asks the user of a call to log in at a server, and waits until they have. The link goes by whatever channel the client has: its own
// page opener, its form, or its model. The client's answer only says that the user will go there.
import type { Ask, Exchange } from '../../../protocol/exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { rejectOnAbort } from '../../../shared/timing.ts';
import type { BrowserLogin, LoginDesk } from './login-desk.ts';

export interface LoginQuestion {
  desk: LoginDesk;
  /** The configured name. */
  server: string;
  login: BrowserLogin;
}

/** Resolves when somebody has logged in. Rejects with an error that has the link if the user cannot be asked or refuses. */
export async function askForLogin(exchange: Exchange, { desk, server, login }: LoginQuestion): Promise<void> {
  const { principal, connection } = exchange.client;
  const { key, subject } = connection?.identity ?? {};
  const user = connection?.identity && (subject ?? key ?? principal);
  const opened = await desk.open(login, { server, principal, user });
  if (!opened) throw new GatewayError('UPSTREAM_LOGIN_NEEDED', { server });
  const { open, link } = opened;
  const needed = (): GatewayError => new GatewayError('UPSTREAM_LOGIN_LINK', { server, link });
  const isDone = new AbortController();
  const done = open.done.finally(() => isDone.abort());
  done.catch(() => {});
  const asked = exchange.ask(toAsk(exchange, { server, link, id: open.id }), isDone.signal);
  const { action } = await Promise.race([done.then(() => ACCEPTED), asked]).catch((thrown: unknown) => {
    if (isDone.signal.aborted) return ACCEPTED;
    if (isRefusal(thrown)) throw needed();
    throw thrown;
  });
  asked.catch(() => {}); // withdrawn
  if (action !== 'accept') throw needed();
  if (!isDone.signal.aborted) exchange.waits?.(`it waits until the user has logged in at ${link}`, isDone.signal);
  await rejectOnAbort(done, exchange.signal, () => new GatewayError('CANCELLED'));
  tellVisited(exchange, open.id);
}

const ACCEPTED: JsonObject = { action: 'accept' };

/** A client that shows forms but opens no pages gets the link in the text of an empty form. */
function toAsk({ client }: Exchange, { server, link, id }: { server: string; link: string; id: string }): Ask {
  const { elicitation } = client.capabilities;
  const rest = { method: 'elicitation/create', key: 'login', ofGateway: true };
  if (elicitation && !elicitation.url) {
    const message = `${server} needs a login. Open ${link} in your browser, log in, and confirm here.`;
    return { ...rest, params: { message, requestedSchema: { type: 'object', properties: {} } } };
  }
  const message = `${server} needs a login. Open the page and log in; the call then continues.`;
  return { ...rest, params: { mode: 'url', message, url: link, elicitationId: id } };
}

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof GatewayError && (thrown.code === 'CLIENT_CANNOT_BE_ASKED' || thrown.code === 'ASK_REFUSED');
}

/** So that the client closes what it shows. */
function tellVisited(exchange: Exchange, elicitationId: string): void {
  const { dialect, capabilities } = exchange.client;
  if (dialect === 'handshake' && capabilities.elicitation?.url)
    exchange.notify('notifications/elicitation/complete', { elicitationId });
}
