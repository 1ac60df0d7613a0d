// What `parley serve` serves and where, and what it says about that.
import { basename } from 'node:path';
import { enabledServers } from '../../../config/config.ts';
import type { AuthConfig } from '../../../config/config.ts';
import { clientOf } from '../../../config/read/client-places.ts';
import { partsOf } from '../../../config/read/load-several.ts';
import type { Gateway } from '../../../gateway/gateway.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { toTable } from '../../../kernel/command/table.ts';
import type { AuthOptions } from '../../../mcp/listen/auth/auth-options.ts';
import type { HttpListenOptions } from '../../../mcp/listen/http/listen-http.ts';
import type { ServeCommand } from '../../args/serving-commands.ts';
import { displayPath, readEnvironment } from '../../environment.ts';
import { announceGateway } from '../../running/state-file.ts';
import { toConsoleLink } from '../../../gateway/features/console/console-link.ts';
import { readStatus } from '../../../gateway/servers/gateway-status.ts';
import { asksKey, chooseLogin } from '../../serving/login-options.ts';
import { serveHttp, serveStdio } from '../../serving/serve-until-end.ts';
import type { ServeTarget, OpenedPort } from '../../serving/serve-until-end.ts';
import { toClientLines, toWelcomeLines, KEY_PLACEHOLDER } from '../../serving/welcome-lines.ts';
import type { WelcomeOptions } from '../../serving/welcome-lines.ts';
import { onStderr, uncoloured } from '../../terminal/print.ts';
import type { CommandConfig } from '../../trust/load-command-config.ts';
import { chooseTransports } from './own-address.ts';
import type { OwnListener } from './own-address.ts';

/** As the command line and the file say. */
export interface ServePlan {
  command: ServeCommand;
  found: CommandConfig & { own: OwnListener };
  stdio: boolean;
  port: number | undefined;
  host: string;
  open: boolean;
  auth: AuthOptions | undefined;
  /** The lines to paste into clients, once the port is open. */
  lines: () => string[];
}

export type Listens = (HttpListenOptions | { stdio: true })[];

export function toServing(command: ServeCommand, found: ServePlan['found']): ServePlan {
  const { listen } = found.config;
  const { stdio, port } = chooseTransports(command, listen);
  const host = command.host ?? listen.host;
  const open = command.open || listen.open === true;
  return {
    command,
    found,
    stdio,
    port,
    host,
    open,
    auth: loginOf({ host, port, open }, found.config),
    lines: () => [],
  };
}

/** The login of this configuration, where the gateway listens. */
export function loginOf(
  { host, port, open }: Pick<ServePlan, 'host' | 'port' | 'open'>,
  { auth, state }: { auth?: AuthConfig | undefined; state?: string | undefined },
): AuthOptions | undefined {
  return chooseLogin({ host: port === undefined ? undefined : host, open, auth, isShared: state !== undefined });
}

export function toServeTarget(gateway: Gateway, serving: ServePlan, started: string): Omit<ServeTarget, 'close'> {
  const { found } = serving;
  return {
    stdio: () => gateway.listen({ stdio: true }),
    drain: () => gateway.drain(),
    http: (options) => gateway.listen(options),
    announce: (url) =>
      announceGateway({
        url,
        publicUrl: found.config.publicUrl,
        serves: found.path,
        asksToken: serving.auth?.token !== undefined,
        lines: () => serving.lines(),
        status: () => readStatus(gateway, started),
        open: async () => ((found.config.console ?? true) ? toConsoleLink(await gateway.pair()) : undefined),
        accept: (socket, asked) => gateway.listen({ stdio: true, input: socket, output: socket, ...asked }),
      }),
  };
}

export function serveAs(
  serving: ServePlan,
  { served, listens }: { served: ServeTarget; listens: Listens },
  print: Printer,
): Promise<number> {
  const { stdio, port, host, open } = serving;
  if (port === undefined) return serveStdio(served, print);
  const wanted = { ...listens.find((listen) => 'port' in listen), host, port, open };
  const say = stdio ? onStderr(print) : print;
  const onOpen = (opened: OpenedPort): void => {
    serving.found.own.opened = { host, port: opened.port };
    serving.lines = () => toClientLines({ ...toServeWelcome(serving, opened, say), print: uncoloured(say) });
    say.line(toWelcomeLines(toServeWelcome(serving, opened, say)).join('\n'));
  };
  return serveHttp(served, { wanted, stdio, onOpen }, print);
}

/** The common welcome and the list of servers. */
function toServeWelcome(
  { command, found, host, open, auth }: ServePlan,
  opened: OpenedPort,
  print: Printer,
): WelcomeOptions {
  const { config } = found;
  const { port, url } = opened;
  const names = enabledServers(config).map(([name]) => name);
  const named = toTable([...names, ...Object.keys(config.groups)].map((name) => [name, `…/mcp/${name}`]));
  const about = named.map((line, index) => {
    const label = index === 0 && names.length > 0 ? 'servers' : index === names.length ? 'groups' : '';
    return `${label.padEnd(8)}${line}`;
  });
  const files = partsOf(found).flatMap((part) => part.path ?? []);
  const title = `${names.length} server${names.length === 1 ? '' : 's'} of ${files.map((file) => displayPath(file)).join(' and ')}`;
  const scheme = url.startsWith('https:') ? 'https' : 'http';
  // Certificates rarely cover the address of this machine, so the client starts a gateway of its own.
  const own = ['serve', ...files, '--stdio', ...(command.share === undefined ? [] : ['--share', command.share])];
  const header = asksKey(auth) ? ['--header', `Authorization: Bearer ${KEY_PLACEHOLDER}`] : [];
  const program = (at: string) => ({ words: scheme === 'https' ? own : ['wrap', ...header, at] });
  const ofClient = files.find((file) => !basename(file).startsWith('parley.'));
  const served = ofClient && displayPath(ofClient);
  const servedOf = ofClient && clientOf(ofClient, readEnvironment())?.id;
  const login = { open, token: auth?.token, asksKey: asksKey(auth) };
  const where = { host, port, publicUrl: config.publicUrl, scheme, isChosen: true } as const;
  return { ...login, ...where, print, title, name: 'parley', about, program, served, servedOf };
}
