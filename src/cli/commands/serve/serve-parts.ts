// The parts of a configuration that can fail before a gateway is made: its steps, the files for TLS, the authorization server in front, and the state that it
// shares with others.
import { buildGateway, buildListeners } from '../../../config/apply/build-gateway.ts';
import type { BuildOptions, BuiltGateway } from '../../../config/apply/build-gateway.ts';
import type { ParleyConfig } from '../../../config/config.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { createSealer } from '../../../kernel/crypto/seal.ts';
import { openSharedState } from '../../../kernel/state/open-shared-state.ts';
import type { State } from '../../../kernel/state/state.ts';
import { readLoginRows } from '../../../mcp/connect/accounts/login-rows.ts';
import type { ServerLoginRow } from '../../../mcp/connect/accounts/login-rows.ts';
import type { LoginTarget } from '../../../mcp/connect/accounts/login-to.ts';
import type { ServerLogin } from '../../../mcp/connect/accounts/server-login.ts';
import { createStateLogins } from '../../../mcp/connect/accounts/state-logins.ts';
import { loadFrontEngine } from '../../../mcp/listen/auth/auth-options.ts';
import { displayPath } from '../../environment.ts';
import { ownLogin, ownLogins } from '../../login/own-logins.ts';
import { printProblems } from '../../trust/load-command-config.ts';
import type { Listens, ServePlan } from './serving.ts';

interface ServeParts {
  built: BuiltGateway;
  listens: Listens;
  /** What it shares with others; undefined: nothing. */
  state: State | undefined;
  loginFor: (server: LoginTarget) => ServerLogin | undefined;
  /** For the operator to see. */
  listLogins: () => Promise<ServerLoginRow[]>;
}

type Making = BuildOptions & { log: Log };

/** Undefined if a part cannot be built, such as a step that fails to load; the reason has been printed. */
export async function buildParts(
  found: ServePlan['found'],
  making: Making,
  print: Printer,
): Promise<ServeParts | undefined> {
  try {
    if (found.config.auth?.front) await loadFrontEngine();
    return await openParts(found.config, making);
  } catch (thrown) {
    if (!(await printProblems(found, print, { runsSteps: found.isStillTrusted() })))
      print.problem(`${displayPath(found.path)}: ${(thrown as Error).message}`);
    return undefined;
  }
}

async function openParts(config: ParleyConfig, making: Making): Promise<ServeParts> {
  const { log } = making;
  const keys = config.keys.length > 0 ? config.keys : undefined;
  const listens = await buildListeners(config);
  const state = config.state === undefined ? undefined : await openSharedState(config.state, { log, keys });
  const store = state && createStateLogins({ state, sealer: keys && createSealer(keys) });
  try {
    const built = await buildGateway(config, making);
    const listLogins = () => readLoginRows(store ?? ownLogins(log));
    return { built, listens, state, listLogins, loginFor: (server) => ownLogin(server, { log, store }) };
  } catch (thrown) {
    await state?.close();
    throw thrown;
  }
}
