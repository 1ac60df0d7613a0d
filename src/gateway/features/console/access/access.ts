// Who may do what: API keys, logins at servers, paired browsers, and the rules. For the operator. Never a key, a token or a hash of one.
import { visible } from '../../../../kernel/base/visible.ts';
import { secrets } from '../../../../kernel/secrets/secrets.ts';
import type { ServerLoginRow } from '../../../../mcp/connect/accounts/login-rows.ts';
import type { ListedKey } from '../../../../mcp/listen/auth/api-keys.ts';
import type { GatewayContext } from '../../feature.ts';
import type { ShownRule } from '../../judged-call.ts';
import { toCallerName } from './callers.ts';
import type { ConnectedClients } from '../connected-clients.ts';
import type { Viewer } from '../viewers.ts';
import type { AccessView, BrowserRow, KeyRow, LoginRow } from '../views.ts';

interface AccessSources {
  readonly context: GatewayContext;
  readonly clients: ConnectedClients;
}

/** More are not shown. */
const MAX_ROWS = 1000;

export class Access {
  readonly #from: AccessSources;

  constructor(from: AccessSources) {
    this.#from = from;
  }

  async view(viewer: Viewer): Promise<AccessView> {
    const { context, clients } = this.#from;
    const { login, gateway } = context;
    const keys = (await login?.keys()) ?? [];
    const others = clients.principals.filter((principal) => keys.every((key) => key.principal !== principal));
    const logins = await gateway.logins();
    return {
      login: login === undefined ? 'none' : login.isNameless ? 'token' : login.needsUrl ? 'issuers' : 'keys',
      keys: keys.slice(0, MAX_ROWS).map(toKeyRow),
      logins: logins.slice(0, MAX_ROWS).map(toLoginRow),
      browsers: await this.#browsers(viewer),
      rules: gateway.rules.map(toShownRule),
      callers: [...keys.map(toCallerName), ...others].map(visible),
      servers: gateway.servers,
    };
  }

  /** False if there is no such browser. */
  async forget(name: string): Promise<boolean> {
    const { log, people } = this.#from.context;
    const isRemoved = await (await people.proof.pairings()).remove(name);
    if (isRemoved) log.warn({ browser: name }, 'pair.removed');
    return isRemoved;
  }

  async #browsers({ way, name: own }: Viewer): Promise<BrowserRow[]> {
    const paired = await (await this.#from.context.people.proof.pairings()).list();
    return paired.slice(0, MAX_ROWS).map(({ name, user, created }) => ({
      name: visible(name),
      user: user === undefined ? null : visible(user),
      since: Date.parse(created),
      isThis: way === 'browser' && name === own,
    }));
  }
}

function toKeyRow({ name, principal, scopes, groups, expires, lastUsed }: ListedKey): KeyRow {
  return {
    name: visible(name),
    who: visible(principal),
    scopes: scopes?.map(visible) ?? null,
    groups: groups.map(visible),
    expires: Number.isFinite(expires) ? expires : null,
    lastUsed: lastUsed ?? null,
  };
}

function toLoginRow({ server, account, issuer, state, expires }: ServerLoginRow): LoginRow {
  return {
    server: visible(server),
    account: account === undefined ? null : visible(account),
    issuer: visible(issuer),
    state,
    expires: expires === undefined ? null : Date.parse(expires),
  };
}

function toShownRule({ text, ...rule }: ShownRule): ShownRule {
  return { ...rule, text: visible(secrets.mask(text)) };
}
