// `parley wrap`: serves one server, whatever revision it speaks, on stdio for a client that starts this process, or on a port.
import { acceptStdio } from '../../../mcp/listen/stdio.ts';
import { AuditWatcher } from '../../../gateway/features/audit/audit-watcher.ts';
import { createServeContext } from '../../../mcp/eras/serve/serve-context.ts';
import { HumanChannel } from '../../../people/human-channel.ts';
import type { HumanChannelOptions } from '../../../people/human-channel.ts';
import { EventsLayer } from '../../../gateway/events-layer.ts';
import { createPipeline } from '../../../gateway/pipeline.ts';
import type { CommandAddress, UrlAddress } from '../../../mcp/connect/address.ts';
import { stopUnusedPrestarted } from '../../../mcp/connect/links/server-process.ts';
import { loginAddress } from '../../../mcp/connect/accounts/login-address.ts';
import type { ServerLogin } from '../../../mcp/connect/accounts/server-login.ts';
import { commandExists } from '../../../mcp/connect/sandbox/find-on-path.ts';
import { UpstreamTarget } from '../../../gateway/servers/upstream-target.ts';
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import { EventHub } from '../../../kernel/events/event-hub.ts';
import { ObservedLayer } from '../../../kernel/target.ts';
import type { Layer, Handle } from '../../../kernel/target.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { createSealer } from '../../../kernel/crypto/seal.ts';
import { keysFrom } from '../../../kernel/crypto/state-keys.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import { version } from '../../../kernel/version.ts';
import type { WrapCommand } from '../../args/serving-commands.ts';
import { ownLogin } from '../../login/own-logins.ts';
import { deriveServerName, toWrappedAddress } from '../../running/named-server.ts';
import { toBridgeLine } from '../../serving/bridge-line.ts';
import { openOwnAudit } from '../../../gateway/features/audit/own-audit.ts';
import { serveHttp, serveStdio } from '../../serving/serve-until-end.ts';
import type { OpenedPort, ServeTarget } from '../../serving/serve-until-end.ts';
import { tellPerson } from '../../serving/tell-person.ts';
import { createCliLog } from '../../terminal/cli-log.ts';
import { explainStartFailure, formatError } from '../../terminal/format-error.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { ServerStderr } from './server-stderr.ts';
import { createWrapChecks } from './wrap-checks.ts';
import type { WrapSteps, WrappedBehind } from './wrap-steps.ts';
import type { WrappedPort } from './wrapped-port.ts';
import { WrappedServer } from './wrapped-server.ts';

const AGAIN = ' It is retried when a client connects.';

export async function runWrap(command: WrapCommand, context: RunContext): Promise<number> {
  try {
    return await wrapServer(command, context);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError && thrown.code === 'BAD_OPTION')) throw thrown;
    context.print.problem(`--step ${formatError(thrown)}`);
    await stopUnusedPrestarted();
    return 2;
  }
}

interface RunContext {
  print: Printer;
  id: string;
}

async function wrapServer(command: WrapCommand, { print, id }: RunContext): Promise<number> {
  const { server, revision, port, host } = command;
  const stderr = new ServerStderr((text) => process.stderr.write(text));
  const log = stderr.in(createCliLog(command.log ?? 'error'));
  const address = toWrappedAddress(server);
  // Only on a port can state outlive this process; on stdio the client ends with it.
  const kept = port === undefined ? {} : { stateFolder: ownStateFolder() };
  const parts = { log, clock: systemClock, sealer: createSealer(keysFrom(kept, log)), id, ...kept };
  const name = deriveServerName(server);
  const { events, audit, observed } = watchCalls(command, name, log);
  const asking = new HumanChannel(personOf(command, name), { ...parts, events });
  // Connections that open before the first client comes are the ones most clients will share.
  const assisted = () => asking.assisted;
  const asked = createWrapLogin(name, server, { print, log });
  const ours = { client: { name: 'mcp-parley', version: version() }, log, assisted, id, login: asked.login };
  const definitions = createWrapChecks(command, { name, events });
  const target = new UpstreamTarget({ name, address, revision, definitions, ...ours });
  let onWelcome = (): void => {};
  const welcomed = new Promise<void>((resolve) => (onWelcome = resolve));
  if (port === undefined) onWelcome(); // only a port has one
  const wrapped = toWrapped(command, { target, stderr, asked, print, welcomed });
  const observe = command.logCalls ? await createCallLogLayer(name) : undefined;
  const steps = command.steps.length > 0 ? await openSteps(command.steps, { name, target: wrapped, log }) : undefined;
  const flows = steps?.flows;
  const layers = { events: observed, observe, questions: asking.layer, flows };
  const pipeline = createPipeline(steps?.target ?? wrapped, layers);
  const front = createServeContext(pipeline, parts, events);
  let atPort: WrappedPort | undefined;
  const served: ServeTarget = {
    stdio: () => acceptStdio(front),
    // Loaded on demand: on stdio, every file that is not loaded makes the first answer earlier.
    http: async (options) => {
      atPort = new (await import('./wrapped-port.ts')).WrappedPort(front, target);
      const listening = await atPort.listen({ ...options, pages: asking.pageEndpoint.pages });
      asking.pageEndpoint.opened(host, listening.url);
      return listening;
    },
    drain: async () => atPort?.drain(() => asking.calls),
    // On stdio the gateway belongs to the client that started it.
    announce: (url) => atPort?.announce(url) ?? (() => {}),
    async close() {
      // Report a mistyped command even if no client has asked for the server.
      if (!wrapped.hasFailed && !isThere(server)) await wrapped.ready();
      wrapped.leave();
      const closed = target.close().finally(() => audit?.close());
      return Promise.all([asking.close(), steps?.close(), closed, stopUnusedPrestarted()]);
    },
  };
  // On stdio the only client declares its capabilities in its first message, so no second server process is needed.
  const status = await (port === undefined
    ? serveStdio(served, print)
    : onPort(command, { served, wrapped, target, opened: () => atPort!, onWelcome }, print));
  return wrapped.hasFailed ? 1 : status;
}

/** The events of this gateway, and the log of calls, which watches them. */
function watchCalls({ isRecorded }: WrapCommand, server: string, log: Log) {
  const events = new EventHub({ log });
  const audit = isRecorded ? openOwnAudit({ log }) : undefined;
  if (audit) events.watch(new AuditWatcher(audit));
  const observed: Layer = (next) => new EventsLayer(next, events, server);
  return { events, audit, observed };
}

/** Loaded only if there are steps: on stdio, every file that is not loaded makes the first answer earlier. */
async function openSteps(files: readonly string[], behind: WrappedBehind): Promise<WrapSteps> {
  const { WrapSteps: Steps } = await import('./wrap-steps.ts');
  return Steps.open(files, behind);
}

/** How people are asked, and which clients may answer for a person. */
function personOf({ isAsking }: WrapCommand, name: string): HumanChannelOptions {
  const ask = { notify: tellPerson(), ...(isAsking ? {} : { channels: [] }) };
  return { ask, stateFolder: ownStateFolder(), pairedAs: `wrap ${name}` };
}

interface WrapLogin {
  /** Undefined for a server without HTTP. */
  login: ServerLogin | undefined;
  /** The error for clients while nobody has logged in; undefined at all other times. */
  readonly request: string | undefined;
}

/**
 * At the first 401 the link is printed and opened. A client that cannot wait that long gets the link, and finds the server ready when it comes back.
 */
function createWrapLogin(
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

interface WrappedParts {
  target: UpstreamTarget;
  stderr: ServerStderr;
  asked: WrapLogin;
  print: Printer;
  /** Problems of the server are printed after the welcome. */
  welcomed: Promise<void>;
}

function toWrapped({ server, startMs, port }: WrapCommand, parts: WrappedParts): WrappedServer {
  const { target, stderr, asked, print, welcomed } = parts;
  return new WrappedServer({
    target,
    startMs,
    explain(reason) {
      const { tail, isGarbled, garbage } = stderr;
      const written = { stderr: tail, isGarbled, garbage };
      return asked.request ?? explainStartFailure({ server, reason, waitedMs: startMs, ...written });
    },
    onMeet: (client) => print.note(toLine(client, target, port === undefined ? 'stdio' : 'HTTP')),
    onFailure(explanation) {
      const isLater = port !== undefined && target.status.state === 'failing' && !isHopeless(target, server);
      void welcomed.then(() => print.problem(`${explanation}${isLater ? AGAIN : ''}`));
    },
  });
}

function toLine(client: ClientView, target: UpstreamTarget, over: string): string {
  const { server, transport = 'stdio' } = target.status;
  return toBridgeLine({ ...client, transport: over }, { ...(target.viewFor(client) ?? server!), transport });
}

/** Logs one line for each call. */
async function createCallLogLayer(name: string): Promise<Layer> {
  const { CallLog } = await import('../../serving/call-log.ts');
  const lines = new CallLog();
  const around = (exchange: Exchange, handle: Handle) => {
    const work = async () => handle(exchange);
    return lines.record(exchange, work, { resultOf: (result) => result, serverOf: () => name });
  };
  return (next) => new ObservedLayer(next, around);
}

function isThere(server: CommandAddress | UrlAddress): boolean {
  return !('command' in server) || commandExists(server.command, process.cwd(), { ...process.env, ...server.env });
}

interface WrapContext {
  served: ServeTarget;
  wrapped: WrappedServer;
  target: UpstreamTarget;
  /** Known once the port is open. */
  opened: () => WrappedPort;
  /** The welcome was printed, or there will be none. */
  onWelcome: () => void;
}

/**
 * Starts a command at once; if it cannot run, there is nothing to serve, and we end. A server with a URL hears nothing before the first client: what it is
 * asked first depends on that client.
 */
async function onPort(command: WrapCommand, context: WrapContext, print: Printer): Promise<number> {
  const { served, wrapped, target, onWelcome } = context;
  const { server, port, host, open } = command;
  const first = 'command' in server ? wrapped.ready() : Promise.resolve();
  if (!isThere(server)) {
    onWelcome();
    await first; // it prints the reason
    await served.close();
    return 1;
  }
  const until = new Promise<number>((resolve) => {
    void first.then(() => isHopeless(target, server) && resolve(1));
  });
  const onOpen = (opened: OpenedPort): void => {
    context.opened().welcome(command, opened, print);
    onWelcome();
  };
  return serveHttp(served, { wanted: { port, host, open }, onOpen, until }, print).finally(onWelcome);
}

/** A command that cannot run now will not run later either. One that started and ended may still need something that is missing. */
function isHopeless({ status }: UpstreamTarget, server: WrapCommand['server']): boolean {
  const { state, problem } = status;
  const isUnrunnable = problem instanceof GatewayError && problem.code === 'UPSTREAM_UNREACHABLE';
  return 'command' in server && state === 'failing' && isUnrunnable;
}
