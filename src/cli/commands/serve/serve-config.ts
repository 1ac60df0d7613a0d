// Serves a configuration and follows its file.
import { buildGateway, buildListeners } from '../../../config/apply/build-gateway.ts';
import type { BuildOptions, BuiltGateway } from '../../../config/apply/build-gateway.ts';
import type { GatewayUpdate } from '../../../config/apply/apply-config.ts';
import { createGateway } from '../../../gateway/gateway.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { openSharedState } from '../../../kernel/state/open-shared-state.ts';
import type { State } from '../../../kernel/state/state.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { ParleyConfig } from '../../../config/config.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import { version } from '../../../kernel/version.ts';
import { createSealer } from '../../../kernel/crypto/seal.ts';
import { createStateLogins } from '../../../mcp/connect/accounts/state-logins.ts';
import type { LoginTarget } from '../../../mcp/connect/accounts/login-to.ts';
import { stopUnusedPrestarted } from '../../../mcp/connect/links/server-process.ts';
import { loadFrontEngine } from '../../../mcp/listen/auth/auth-options.ts';
import type { ServeCommand } from '../../args/serving-commands.ts';
import { displayPath } from '../../environment.ts';
import { ownLogin } from '../../login/own-logins.ts';
import { createStatusPage } from '../../../gateway/servers/gateway-status.ts';
import { createCliLog, toLogPrinter } from '../../terminal/cli-log.ts';
import { printProblems } from '../../trust/load-command-config.ts';
import { followConfig } from './follow-config.ts';
import { OwnOptions } from './own-options.ts';
import { loginOf, serveAs, toServeTarget, toServing } from './serving.ts';
import type { Listens, ServePlan } from './serving.ts';
import { tellProblems } from './tell-problems.ts';

type ServeSetup = ServePlan['found'] & {
  /** The id of the gateway (kernel/base/via.ts). */
  id: string;
};

export async function serveConfig(command: ServeCommand, found: ServeSetup, print: Printer): Promise<number> {
  const notices = toLogPrinter(print);
  const level = { now: command.log ?? found.config.log.level };
  const log = createCliLog(() => level.now);
  // A reloaded step may change lists, so clients are notified.
  const { isStillTrusted, checkStart } = found;
  const making = { log, stepLog: log, onStepReload: () => gateway.update({}), isStillTrusted, checkStart };
  const made = await buildParts(found, making, print);
  if (!made) {
    await stopUnusedPrestarted();
    return 1;
  }
  const { built, listens, state } = made;
  tellProblems(found, notices);
  const serving = toServing(command, found);
  const started = new Date().toISOString();
  const pages = { '/status': createStatusPage(() => gateway, started) };
  // Servers start only after a client on stdin has identified itself: it may be a gateway that serves the same file.
  const kept = { stateFolder: ownStateFolder(), startsEager: !serving.stdio, state, pairedAs: found.path };
  const { keys } = found.config;
  const store = state && createStateLogins({ state, sealer: keys.length > 0 ? createSealer(keys) : undefined });
  const loginFor = (server: LoginTarget) => ownLogin(server, { log, store });
  const mine = { id: found.id, version: version(), pages, loginFor, console: found.config.console ?? true };
  const own = await OwnOptions.open(serving, log);
  const gateway = createGateway({ ...built.options, ...kept, ...mine, ...own.first(built.options) });
  const onApplied = (config: ParleyConfig): void => {
    level.now = command.log ?? config.log.level;
    if (found.config.auth && config.auth) serving.auth = loginOf(serving, config);
  };
  const updatable = { update: (next: GatewayUpdate) => own.update(gateway, next) };
  const following = followConfig(
    { command, found, gateway: updatable, steps: built.steps, making, onApplied },
    notices,
  );
  const close = () => {
    following.close();
    const closed = gateway.close().finally(() => Promise.all([own.close(), state?.close()]));
    return Promise.all([closed, stopUnusedPrestarted()]);
  };
  return serveAs(serving, { served: { ...toServeTarget(gateway, serving, started), close }, listens }, print);
}

/** Undefined if a part cannot be built, such as a step that fails to load; the reason has been printed. */
async function buildParts(
  found: ServeSetup,
  making: BuildOptions,
  print: Printer,
): Promise<{ built: BuiltGateway; listens: Listens; state: State | undefined } | undefined> {
  try {
    if (found.config.auth?.front) await loadFrontEngine();
    const listens = await buildListeners(found.config);
    const state = await openState(found.config, making.log);
    try {
      return { listens, state, built: await buildGateway(found.config, making) };
    } catch (thrown) {
      await state?.close();
      throw thrown;
    }
  } catch (thrown) {
    if (!(await printProblems(found, print, { runsSteps: found.isStillTrusted() })))
      print.problem(`${displayPath(found.path)}: ${(thrown as Error).message}`);
    return undefined;
  }
}

/** What it shares with others; undefined: nothing. */
async function openState({ state, keys }: ParleyConfig, log: Log | undefined): Promise<State | undefined> {
  return state === undefined ? undefined : openSharedState(state, { log, keys: keys.length > 0 ? keys : undefined });
}
