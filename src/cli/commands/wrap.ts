// `parley wrap`: one server, whatever it speaks, for a client that starts us (stdio) or that is given a URL (--port).
import type { ClientView } from '../../protocol/exchange.ts';
import type { Target } from '../../protocol/target.ts';
import { acceptStdio } from '../../gateway/accept/stdio.ts';
import { Asking } from '../../gateway/asking.ts';
import { createFront } from '../../gateway/dialect/front.ts';
import { leaveUntaken } from '../../gateway/upstream/head-start.ts';
import { UpstreamTarget } from '../../gateway/upstream/upstream-target.ts';
import { systemClock } from '../../shared/clock.ts';
import { createSealer } from '../../shared/seal.ts';
import { keysFrom } from '../../shared/state-keys.ts';
import { bridgeLine } from '../bridge-line.ts';
import { createCliLog } from '../cli-log.ts';
import type { WrapCommand } from '../command.ts';
import type { Opened } from '../listening.ts';
import type { Printer } from '../print.ts';
import { serverName } from '../server-name.ts';
import { ServerStderr } from '../server-stderr.ts';
import { serveHttp, serveStdio } from '../serve-until.ts';
import type { Served } from '../serve-until.ts';
import { version } from '../version.ts';
import { welcome } from '../first/welcome.ts';
import { whyNotStarted } from '../why-not-started.ts';
import type { WrappedPort } from '../wrapped-port.ts';
import { wrappedAddress } from '../wrapped-address.ts';
import { Wrapped } from '../wrapped.ts';

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
    onFailure: (explanation) => print.problem(explanation),
  });
  const behind = asking.before(wrapped);
  const front = createFront(command.logCalls ? await logged(behind, serverName(server)) : behind, around);
  let atPort: WrappedPort | undefined;
  const served: Served = {
    stdio: () => acceptStdio(front),
    // Loaded when it is needed: on stdio every file less is an earlier answer.
    http: async (options) => {
      atPort = new (await import('../wrapped-port.ts')).WrappedPort(front, target);
      const listening = await atPort.listen({ ...options, pages: asking.door.pages });
      asking.door.opened(host, listening.url);
      return listening;
    },
    // On stdio it belongs to the client that started it.
    announce: (url) => atPort?.announce(url) ?? (() => {}),
    close() {
      wrapped.leave();
      return Promise.all([asking.close(), target.close(), leaveUntaken()]);
    },
  };
  // On stdio there is one client, and what it can be asked is known by its first word: no second server is started.
  if (port !== undefined) void wrapped.ready();
  const onOpen = (opened: Opened): void => toWelcome(command, opened, print).forEach((line) => print.line(line));
  const status = await (port === undefined
    ? serveStdio(served, print)
    : serveHttp(served, { wanted: { port, host }, onOpen }, print));
  return wrapped.hasFailed ? 1 : status;
}

/** A line for each call, around whatever answers it. */
async function logged(target: Target, name: string): Promise<Target> {
  const { CallLines } = await import('../call-lines.ts');
  const { ObservedTarget } = await import('../../gateway/observe/observed-target.ts');
  const lines = new CallLines();
  return new ObservedTarget(target, (exchange, handle) => {
    const work = async () => handle(exchange);
    return lines.around(exchange, work, (result) => result, name);
  });
}

function toLine(client: ClientView, target: UpstreamTarget, over: string): string {
  const { server, transport = 'stdio' } = target.status;
  return bridgeLine({ ...client, transport: over }, { ...(target.viewFor(client) ?? server!), transport });
}

function toWelcome({ server, host }: WrapCommand, opened: Opened, print: Printer): string[] {
  const name = serverName(server);
  const words = 'command' in server ? ['--', server.command, ...(server.args ?? [])] : [String(server.url)];
  const { port, isChosen } = opened;
  const title = `in front of ${name}`;
  return welcome({ host, port, isChosen, print, title, name, about: [], program: () => ['wrap', ...words] });
}
