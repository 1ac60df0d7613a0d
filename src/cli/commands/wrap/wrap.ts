// `parley wrap`: serves one server, whatever revision it speaks, on stdio for a client that starts this process, or on a port.
import { UpstreamTarget } from '../../../gateway/servers/upstream-target.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { createSealer } from '../../../kernel/crypto/seal.ts';
import { keysFrom } from '../../../kernel/crypto/state-keys.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import { version } from '../../../kernel/version.ts';
import { stopUnusedPrestarted } from '../../../mcp/connect/links/server-process.ts';
import { createServeContext } from '../../../mcp/eras/serve/serve-context.ts';
import { acceptStdio } from '../../../mcp/listen/stdio.ts';
import type { WrapCommand } from '../../args/serving-commands.ts';
import { deriveServerName, toWrappedAddress } from '../../running/named-server.ts';
import { serveHttp, serveStdio } from '../../serving/serve-until-end.ts';
import type { OpenedPort, ServeTarget } from '../../serving/serve-until-end.ts';
import { createCliLog } from '../../terminal/cli-log.ts';
import { formatError } from '../../terminal/format-error.ts';
import { isHopeless, isThere } from './can-run.ts';
import { ServerStderr } from './server-stderr.ts';
import { toWrapped } from './to-wrapped.ts';
import { createWrapChecks } from './wrap-checks.ts';
import { WrapLayers } from './wrap-layers.ts';
import { createWrapLogin } from './wrap-login.ts';
import type { WrappedPort } from './wrapped-port.ts';
import type { WrappedServer } from './wrapped-server.ts';

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
  const layers = new WrapLayers(command, name, parts);
  const { events, people } = layers;
  // Connections that open before the first client comes are the ones most clients will share.
  const assisted = () => people.assisted;
  const asked = createWrapLogin(name, server, { print, log });
  const ours = { client: { name: 'mcp-parley', version: version() }, log, assisted, id, login: asked.login };
  const definitions = createWrapChecks(command, { name, events });
  const target = new UpstreamTarget({ name, address, revision, definitions, ...ours });
  let onWelcome = (): void => {};
  const welcomed = new Promise<void>((resolve) => (onWelcome = resolve));
  if (port === undefined) onWelcome(); // only a port has one
  const wrapped = toWrapped(command, { target, stderr, asked, print, welcomed });
  const front = createServeContext(await layers.before(wrapped), parts, events);
  let atPort: WrappedPort | undefined;
  const served: ServeTarget = {
    stdio: () => acceptStdio(front),
    // Loaded on demand: on stdio, every file that is not loaded makes the first answer earlier.
    http: async (options) => {
      atPort = new (await import('./wrapped-port.ts')).WrappedPort(front, target);
      const listening = await atPort.listen({ ...options, pages: people.pageEndpoint.pages });
      people.pageEndpoint.opened(host, listening.url);
      return listening;
    },
    drain: async () => atPort?.drain(() => people.calls),
    // On stdio the gateway belongs to the client that started it.
    announce: (url) => atPort?.announce(url) ?? (() => {}),
    async close() {
      // Report a mistyped command even if no client has asked for the server.
      if (!wrapped.hasFailed && !isThere(server)) await wrapped.ready();
      wrapped.leave();
      return Promise.all([layers.close(target), stopUnusedPrestarted()]);
    },
  };
  // On stdio the only client declares its capabilities in its first message, so no second server process is needed.
  const status = await (port === undefined
    ? serveStdio(served, print)
    : onPort(command, { served, wrapped, target, opened: () => atPort!, onWelcome }, print));
  return wrapped.hasFailed ? 1 : status;
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
