// Serves a configuration and follows its file.
import type { GatewayUpdate } from '../../../config/apply/apply-config.ts';
import { digestConfig } from '../../../config/apply/config-digests.ts';
import type { ConfigChange } from '../../../config/apply/watch-config.ts';
import { createGateway } from '../../../gateway/gateway.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import { version } from '../../../kernel/version.ts';
import { stopUnusedPrestarted } from '../../../mcp/connect/links/server-process.ts';
import type { ServeCommand } from '../../args/serving-commands.ts';
import { createStatusPage } from '../../../gateway/servers/gateway-status.ts';
import { createCliLog, toLogPrinter } from '../../terminal/cli-log.ts';
import { lateFlowDesk } from '../flows/late-flow-desk.ts';
import { followConfig } from './follow-config.ts';
import { OwnOptions } from './own-options.ts';
import { OwnSettings } from './own-settings.ts';
import { buildParts } from './serve-parts.ts';
import { loginOf, serveAs, toServeTarget, toServing } from './serving.ts';
import type { ServePlan } from './serving.ts';
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
  const { built, listens, state, loginFor, listLogins } = made;
  tellProblems(found, notices);
  const serving = toServing(command, found);
  const started = new Date().toISOString();
  const pages = { '/status': createStatusPage(() => gateway, started) };
  // Servers start only after a client on stdin has identified itself: it may be a gateway that serves the same file.
  const kept = { stateFolder: ownStateFolder(), startsEager: !serving.stdio, state, pairedAs: found.path };
  const settings = new OwnSettings(serving);
  let applied: Parameters<typeof digestConfig>[0] = found;
  const flowSessions = lateFlowDesk(() => applied.config.flows);
  const inConsole = { listLogins, settings: () => settings.shown(), flowSessions };
  const mine = { ...kept, id: found.id, version: version(), pages, loginFor, console: found.config.console ?? true };
  const own = await OwnOptions.open(serving, log);
  const cluster = built.options.cluster && { ...built.options.cluster, digests: () => digestConfig(applied) };
  const gateway = createGateway({ ...built.options, ...mine, ...inConsole, cluster, ...own.first(built.options) });
  const onApplied = (change: ConfigChange): void => {
    const { next: config } = change;
    applied = { config, used: change.loaded.used, path: found.path };
    settings.applied(change);
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
