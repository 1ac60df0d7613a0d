// Serves a configuration and watches its file. A change restarts only what changed; a file with errors changes nothing.
import { basename } from 'node:path';
import { applyConfig } from '../../../config/apply/apply-config.ts';
import type { GatewayUpdate, UpdatableGateway } from '../../../config/apply/apply-config.ts';
import { buildGateway, buildListeners } from '../../../config/apply/build-gateway.ts';
import type { BuildOptions, BuiltGateway, BuiltSteps, BuildStepOptions } from '../../../config/apply/build-gateway.ts';
import { watchConfig } from '../../../config/apply/watch-config.ts';
import type { ConfigChange } from '../../../config/apply/watch-config.ts';
import { formatProblem } from '../../../config/check/config-problems.ts';
import type { ConfigProblem } from '../../../config/check/config-problems.ts';
import { enabledServers } from '../../../config/config.ts';
import { loadFrontEngine } from '../../../mcp/listen/auth/auth-options.ts';
import type { AuthOptions } from '../../../mcp/listen/auth/auth-options.ts';
import type { HttpListenOptions } from '../../../mcp/listen/http/listen-http.ts';
import { createGateway } from '../../../gateway/gateway.ts';
import type { Gateway } from '../../../gateway/gateway.ts';
import { stopUnusedPrestarted } from '../../../mcp/connect/links/server-process.ts';
import type { LoginTarget } from '../../../mcp/connect/accounts/login-to.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import { version } from '../../../kernel/version.ts';
import type { ServeCommand } from '../../args/serving-commands.ts';
import { readEnvironment, displayPath } from '../../environment.ts';
import { ownLogin } from '../../login/own-logins.ts';
import { announceGateway } from '../../running/state-file.ts';
import { createStatusPage, readStatus } from '../../../gateway/servers/gateway-status.ts';
import { CallLog } from '../../serving/call-log.ts';
import { asksKey, chooseLogin } from '../../serving/login-options.ts';
import { openServeAudit } from '../../../gateway/features/audit/own-audit.ts';
import { serveHttp, serveStdio } from '../../serving/serve-until-end.ts';
import type { ServeTarget, OpenedPort } from '../../serving/serve-until-end.ts';
import { tellPerson } from '../../serving/tell-person.ts';
import { toClientLines, toWelcomeLines, KEY_PLACEHOLDER } from '../../serving/welcome-lines.ts';
import type { WelcomeOptions } from '../../serving/welcome-lines.ts';
import { createCliLog, toLogPrinter } from '../../terminal/cli-log.ts';
import { onStderr, uncoloured } from '../../terminal/print.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { toTable } from '../../../kernel/command/table.ts';
import { isUsable, judgeTrust, isOwnConfig, trustFile, howTo, whyNot } from '../../trust/judge-trust.ts';
import { printProblems } from '../../trust/load-command-config.ts';
import type { CommandConfig } from '../../trust/load-command-config.ts';
import { toOwnAddress, chooseTransports } from './own-address.ts';
import type { OwnListener } from './own-address.ts';

interface ServeSetup extends CommandConfig {
  /** The id of the gateway (kernel/base/via.ts). */
  id: string;
  own: OwnListener;
}

export async function serveConfig(command: ServeCommand, found: ServeSetup, print: Printer): Promise<number> {
  const notices = toLogPrinter(print);
  const log = createCliLog(command.log ?? found.config.log.level);
  // A reloaded step may change lists, so clients are notified.
  const { isStillTrusted, checkStart } = found;
  const making = { log, stepLog: log, onStepReload: () => gateway.update({}), isStillTrusted, checkStart };
  const made = await buildParts(found, making, print);
  if (!made) {
    await stopUnusedPrestarted();
    return 1;
  }
  const { built, listens } = made;
  tellProblems(found, notices);
  const serving = toServing(command, found);
  const { auth } = serving;
  const started = new Date().toISOString();
  const pages = { '/status': createStatusPage(() => gateway, started) };
  const calls = command.logCalls ? [new CallLog().step] : [];
  const steps = [...calls, ...(built.options.steps ?? [])];
  // Servers start only after a client on stdin has identified itself: it may be a gateway that serves the same file.
  const kept = { stateFolder: ownStateFolder(), startsEager: !serving.stdio };
  const loginFor = (server: LoginTarget) => ownLogin(server, { log });
  const mine = { id: found.id, version: version(), pages, loginFor, auth };
  const person = { pairedAs: found.path, ask: { ...built.options.ask, notify: tellPerson() } };
  const audit = await openServeAudit(found.config, log);
  const gateway = createGateway({ ...built.options, ...kept, ...mine, ...person, ...audit?.options, steps });
  // The steps of a changed file come after the call log, too.
  const updatable = {
    update: (next: GatewayUpdate) => gateway.update(next.steps ? { ...next, steps: [...calls, ...next.steps] } : next),
  };
  const following = follow(serving, { gateway: updatable, steps: built.steps, making, print: notices });
  const close = () => {
    following.close();
    return Promise.all([gateway.close().finally(() => audit?.close()), stopUnusedPrestarted()]);
  };
  const served = { ...toServeTarget(gateway, serving, started), close };
  return serveAs(serving, { served, listens }, print);
}

type Listens = (HttpListenOptions | { stdio: true })[];

/** Undefined if a part cannot be built, such as a step that fails to load; the reason has been printed. */
async function buildParts(
  found: ServeSetup,
  making: BuildOptions,
  print: Printer,
): Promise<{ built: BuiltGateway; listens: Listens } | undefined> {
  try {
    if (found.config.auth?.front) await loadFrontEngine();
    return { listens: await buildListeners(found.config), built: await buildGateway(found.config, making) };
  } catch (thrown) {
    if (!(await printProblems(found, print, { runsSteps: found.isStillTrusted() })))
      print.problem(`${displayPath(found.path)}: ${(thrown as Error).message}`);
    return undefined;
  }
}

function tellProblems(
  { path, problems }: { path: string | undefined; problems: ConfigProblem[] },
  print: Printer,
): void {
  for (const problem of problems) {
    const line = formatProblem(problem, displayPath(path));
    if (problem.level === 'note') print.note(line);
    else print.warning(line);
  }
}

/** What is served and where, as the command line and the file say. */
interface Serving {
  command: ServeCommand;
  found: ServeSetup;
  stdio: boolean;
  port: number | undefined;
  host: string;
  open: boolean;
  auth: AuthOptions | undefined;
  /** The lines to paste into clients, once the port is open. */
  lines: string[];
}

function toServing(command: ServeCommand, found: ServeSetup): Serving {
  const { listen, auth: configured } = found.config;
  const { stdio, port } = chooseTransports(command, listen);
  const host = command.host ?? listen.host;
  const open = command.open || listen.open === true;
  const auth = chooseLogin({ host: port === undefined ? undefined : host, open, auth: configured });
  return { command, found, stdio, port, host, open, auth, lines: [] };
}

interface FollowContext {
  gateway: UpdatableGateway;
  steps: BuiltSteps;
  making: BuildStepOptions;
  print: Printer;
}

function follow({ command, found }: Serving, { gateway, steps, making, print }: FollowContext): { close(): void } {
  let running = steps;
  const watch = watchConfig(found, {
    ...readEnvironment(),
    own: toOwnAddress(command, found.own),
    share: command.share,
    ...found.ownRules,
    besides: isOwnConfig(found.path, readEnvironment()) ? [] : [trustFile()],
    async onChange(change) {
      const { previous, next, loaded } = change;
      const verdict = judgeTrust(loaded, readEnvironment());
      if (!isUsable(verdict)) throw new Error(`${whyNot(found.path, verdict)} ${howTo(found.path)}`);
      tellProblems(loaded, print);
      running = await applyConfig(gateway, { previous, next, steps: running }, making);
      for (const line of describeChange(change)) print.news(line);
    },
    onProblems(problems) {
      tellProblems({ path: found.path, problems }, print);
      print.problem(
        `${displayPath(found.path)} has changed and cannot be used; the previous configuration keeps running.`,
      );
    },
  });
  return {
    close() {
      watch.close();
      running.close();
    },
  };
}

function describeChange({ difference, loaded }: ConfigChange): string[] {
  const { added, removed, changed, restart } = difference;
  const named = (verb: string, list: string[]): string[] => (list.length > 0 ? [`${verb} ${list.join(', ')}`] : []);
  const other = (['steps', 'groups', 'names'] as const).filter((key) => difference[key]);
  const all = [...named('started', added), ...named('restarted', changed), ...named('stopped', removed)];
  const what = [...all, ...named('renewed', other)].join('; ');
  return [
    `${displayPath(loaded.path)} has changed${what === '' ? '' : `: ${what}`}.`,
    ...(restart.length > 0 ? [`${restart.join(', ')} will take effect at the next start.`] : []),
  ];
}

function toServeTarget(gateway: Gateway, serving: Serving, started: string): Omit<ServeTarget, 'close'> {
  const { found, auth } = serving;
  return {
    stdio: () => gateway.listen({ stdio: true }),
    drain: () => gateway.drain(),
    http: (options) => gateway.listen(options),
    announce: (url) =>
      announceGateway({
        url,
        publicUrl: found.config.publicUrl,
        serves: found.path,
        asksToken: auth?.token !== undefined,
        lines: () => serving.lines,
        status: () => readStatus(gateway, started),
        accept: (socket, asked) => gateway.listen({ stdio: true, input: socket, output: socket, ...asked }),
      }),
  };
}

function serveAs(
  serving: Serving,
  { served, listens }: { served: ServeTarget; listens: Listens },
  print: Printer,
): Promise<number> {
  const { stdio, port, host, open } = serving;
  if (port === undefined) return serveStdio(served, print);
  const wanted = { ...listens.find((listen) => 'port' in listen), host, port, open };
  const say = stdio ? onStderr(print) : print;
  const onOpen = (opened: OpenedPort): void => {
    serving.found.own.opened = { host, port: opened.port };
    const said = toServeWelcome(serving, opened, say);
    serving.lines = toClientLines({ ...said, print: uncoloured(say) });
    say.line(toWelcomeLines(said).join('\n'));
  };
  return serveHttp(served, { wanted, stdio, onOpen }, print);
}

/** The common welcome and the list of servers. */
function toServeWelcome(
  { command, found, host, open, auth }: Serving,
  opened: OpenedPort,
  print: Printer,
): WelcomeOptions {
  const { config, path } = found;
  const { port, url } = opened;
  const names = enabledServers(config).map(([name]) => name);
  const named = toTable([...names, ...Object.keys(config.groups)].map((name) => [name, `…/mcp/${name}`]));
  const about = named.map((line, index) => {
    const label = index === 0 && names.length > 0 ? 'servers' : index === names.length ? 'groups' : '';
    return `${label.padEnd(8)}${line}`;
  });
  const title = `${names.length} server${names.length === 1 ? '' : 's'} of ${displayPath(path)}`;
  const scheme = url.startsWith('https:') ? 'https' : 'http';
  // Certificates rarely cover the address of this machine, so the client starts a gateway of its own.
  const own = ['serve', path, '--stdio', ...(command.share === undefined ? [] : ['--share', command.share])];
  const header = asksKey(auth) ? ['--header', `Authorization: Bearer ${KEY_PLACEHOLDER}`] : [];
  const program = (at: string) => ({ words: scheme === 'https' ? own : ['wrap', ...header, at] });
  const served = basename(path).startsWith('parley.') ? undefined : displayPath(path);
  const login = { open, token: auth?.token, asksKey: asksKey(auth) };
  const where = { host, port, publicUrl: config.publicUrl, scheme, isChosen: true } as const;
  return { ...login, ...where, print, title, name: 'parley', about, program, served };
}
