// `parley wrap`: one server, whatever it speaks, for a client that starts us (stdio) or that is given a URL (--port).
import type { ClientView } from '../../protocol/exchange.ts';
import type { Target } from '../../protocol/target.ts';
import { acceptStdio } from '../../gateway/accept/stdio.ts';
import { Asking } from '../../gateway/asking.ts';
import { createServeContext } from '../../gateway/dialect/serve/serve-context.ts';
import { leaveUntaken } from '../../gateway/upstream/links/head-start.ts';
import { UpstreamTarget } from '../../gateway/upstream/upstream-target.ts';
import type { CommandAddress, UrlAddress } from '../../gateway/upstream/address.ts';
import { isCommandThere } from '../../config/check/command-on-disk.ts';
import { GatewayError } from '../../shared/errors.ts';
import { systemClock } from '../../shared/clock.ts';
import { createSealer } from '../../shared/crypto/seal.ts';
import { keysFrom } from '../../shared/crypto/state-keys.ts';
import { bridgeLine } from '../serve/bridge-line.ts';
import { createCliLog } from '../cli-log.ts';
import type { WrapCommand } from '../command.ts';
import type { Opened } from '../serve/listening.ts';
import type { Printer } from '../terminal/print.ts';
import { serverName } from '../serve/server-name.ts';
import { ServerStderr } from '../wrap/server-stderr.ts';
import { serveHttp, serveStdio } from '../serve/serve-until.ts';
import type { Served } from '../serve/serve-until.ts';
import { version } from '../../shared/version.ts';
import { welcome } from '../first/welcome.ts';
import type { Started } from '../first/welcome.ts';
import { whyNotStarted } from '../wrap/why-not-started.ts';
import type { WrappedPort } from '../wrap/wrapped-port.ts';
import { wrappedAddress } from '../wrap/wrapped-address.ts';
import { Wrapped } from '../wrap/wrapped.ts';

const AGAIN = ' It is tried again when a client comes.';

export async function wrap(command: WrapCommand, { print, id }: { print: Printer; id: string }): Promise<number> {
  const { server, revision, startMs, port, host } = command;
  const stderr = new ServerStderr((text) => process.stderr.write(text));
  const log = stderr.in(createCliLog(command.log ?? 'error'));
  const address = wrappedAddress(server);
  const client = { name: 'mcp-parley', version: version() };
  // Only a port outlives this process: on stdio the client goes with it.
  const kept = port === undefined ? {} : { stateFolder: (await import('../running/state-file.ts')).ownStateFolder() };
  const around = { log, clock: systemClock, sealer: createSealer(keysFrom(kept, log)), id, ...kept };
  const asking = new Asking(command.isAsking ? {} : { ask: { channels: [] } }, around);
  // What is opened before anybody comes is what most of them will share.
  const assisted = () => asking.assisted;
  const target = new UpstreamTarget({ name: serverName(server), address, client, revision, log, assisted, id });
  const wrapped = new Wrapped({
    target,
    startMs,
    explain(reason) {
      const { tail, isGarbled, garbage } = stderr;
      return whyNotStarted({ server, reason, waitedMs: startMs, stderr: tail, isGarbled, garbage });
    },
    onMeet: (client) => print.note(toLine(client, target, port === undefined ? 'stdio' : 'HTTP')),
    onFailure(explanation) {
      const isLater = port !== undefined && target.status.state === 'failing' && !isHopeless(target, server);
      print.problem(`${explanation}${isLater ? AGAIN : ''}`);
    },
  });
  const behind = asking.before(wrapped);
  const front = createServeContext(command.logCalls ? await logged(behind, serverName(server)) : behind, around);
  let atPort: WrappedPort | undefined;
  const served: Served = {
    stdio: () => acceptStdio(front),
    // Loaded when it is needed: on stdio every file less is an earlier answer.
    http: async (options) => {
      atPort = new (await import('../wrap/wrapped-port.ts')).WrappedPort(front, target);
      const listening = await atPort.listen({ ...options, pages: asking.door.pages });
      asking.door.opened(host, listening.url);
      return listening;
    },
    // On stdio it belongs to the client that started it.
    announce: (url) => atPort?.announce(url) ?? (() => {}),
    async close() {
      // A mistyped command has to be told even where no client has asked for the server.
      if (!wrapped.hasFailed && !isThere(server)) await wrapped.ready();
      wrapped.leave();
      return Promise.all([asking.close(), target.close(), leaveUntaken()]);
    },
  };
  // On stdio there is one client, and what it can be asked is known by its first word: no second server is started.
  const status = await (port === undefined
    ? serveStdio(served, print)
    : onPort(command, { served, wrapped, target }, print));
  return wrapped.hasFailed ? 1 : status;
}

interface Wrapping {
  served: Served;
  wrapped: Wrapped;
  target: UpstreamTarget;
}

/** The server is started at once. One that cannot be run ends all of it: there would be nothing to serve. */
async function onPort(command: WrapCommand, { served, wrapped, target }: Wrapping, print: Printer): Promise<number> {
  const { server, port, host } = command;
  const first = wrapped.ready();
  if (!isThere(server)) {
    await first; // it has said why
    await served.close();
    return 1;
  }
  const until = new Promise<number>((resolve) => {
    void first.then(() => isHopeless(target, server) && resolve(1));
  });
  const again = (await import('../first/wrap-again.ts')).wrapAgain(command);
  const onOpen = (opened: Opened): void => {
    for (const line of toWelcome(command, { opened, again }, print)) print.line(line);
  };
  return serveHttp(served, { wanted: { port, host }, onOpen, until }, print);
}

/** What cannot be run today cannot be run when a client comes. One that ended may need what is not there yet. */
function isHopeless({ status }: UpstreamTarget, server: WrapCommand['server']): boolean {
  const { state, problem } = status;
  const isUnrunnable = problem instanceof GatewayError && problem.code === 'UPSTREAM_UNREACHABLE';
  return 'command' in server && state === 'failing' && isUnrunnable;
}

/** A line for each call, around whatever answers it. */
async function logged(target: Target, name: string): Promise<Target> {
  const { CallLines } = await import('../serve/call-lines.ts');
  const { ObservedTarget } = await import('../../gateway/observe/observed-target.ts');
  const lines = new CallLines();
  return new ObservedTarget(target, (exchange, handle) => {
    const work = async () => handle(exchange);
    return lines.around(exchange, work, { resultOf: (result) => result, serverOf: () => name });
  });
}

function toLine(client: ClientView, target: UpstreamTarget, over: string): string {
  const { server, transport = 'stdio' } = target.status;
  return bridgeLine({ ...client, transport: over }, { ...(target.viewFor(client) ?? server!), transport });
}

function isThere(server: CommandAddress | UrlAddress): boolean {
  return !('command' in server) || isCommandThere(server.command, process.cwd(), { ...process.env, ...server.env });
}

interface Shown {
  opened: Opened;
  again: Started;
}

function toWelcome({ host, server }: WrapCommand, { opened, again }: Shown, print: Printer): string[] {
  const name = serverName(server);
  const { port, isChosen } = opened;
  const title = `in front of ${name}`;
  return welcome({ host, port, isChosen, print, title, name, about: [], program: () => again });
}
