// The logins of the gateway and of its users at servers.
import type { Credentials, LoginTarget } from '../../../mcp/connect/accounts/login-to.ts';
import { createStateLogins } from '../../../mcp/connect/accounts/state-logins.ts';
import { loginAddress } from '../../../mcp/connect/accounts/login-address.ts';
import { readLoginRows } from '../../../mcp/connect/accounts/login-rows.ts';
import type { ServerLoginRow } from '../../../mcp/connect/accounts/login-rows.ts';
import type { ServerLogin } from '../../../mcp/connect/accounts/server-login.ts';
import { defineFeature } from '../feature.ts';
import { AccountLogins } from './account-logins.ts';
import { AccountTarget } from './account-target.ts';

export interface AccountsFeatureOptions {
  /** The login at a server, if not only for the life of this process; called once for each server with HTTP. */
  loginFor?: ((server: LoginTarget) => ServerLogin | undefined) | undefined;
  /** The logins that `loginFor` keeps, for people to see. */
  listLogins?: (() => Promise<readonly ServerLoginRow[]>) | undefined;
  /** Headers for the requests of a user to a server. Servers with HTTP have an account for each user then. */
  credentials?: Credentials | undefined;
}

export interface AccountSettings {
  /** Whose account is used there. `user`: everybody logs in for themselves, and shares nothing. Default: one for all. */
  account?: 'user' | 'shared' | undefined;
}

export const accounts = defineFeature<AccountsFeatureOptions>({
  name: 'accounts',
  create(options, { people, state, nodes, gateway, ...around }) {
    const { sealer, clock } = around;
    const store = state.isShared ? createStateLogins({ state, sealer, clock }) : undefined;
    const mark = nodes?.mark ?? '';
    const logins = new AccountLogins(options, { ...around, store, mark, host: () => people.pageEndpoint.host });
    /** URLs of servers, by name. */
    const urls = new Map<string, string>();
    const kept = options.listLogins ?? (async () => (store ? readLoginRows(store) : []));
    return {
      opening({ name, address }) {
        const { url } = loginAddress(address) ?? {};
        if (url) urls.set(name, url.origin + url.pathname);
        return {};
      },
      async logins() {
        const names = gateway.servers.filter((name) => urls.has(name));
        const rows = await kept();
        return names.flatMap((name) =>
          rows.filter(({ server }) => server === urls.get(name)).map((row) => ({ ...row, server: name })),
        );
      },
      openPages: logins.pages,
      isPerUser: ({ name, address, settings }) =>
        logins.isPerUser(name, address, (settings as AccountSettings).account),
      target: ({ name, address, isPerUser }, open) =>
        isPerUser
          ? new AccountTarget({ name, create: (account) => open(logins.loginAt(name, address, account)) })
          : open(logins.loginAt(name, address)),
      close: () => logins.close(),
    };
  },
});
