// `parley demo`: serves a gateway with the demo server behind it, on one loopback port for every transport, or on stdio. Ends on Ctrl-C, on
// SIGTERM, or when the client on stdio closes its end.
import { isLoopback } from '../../../mcp/listen/guard.ts';
import type { HttpListenOptions } from '../../../mcp/listen/http/listen-http.ts';
import { toConsoleLink } from '../../../gateway/features/console/console-link.ts';
import { createGateway } from '../../../gateway/gateway.ts';
import { version } from '../../../kernel/version.ts';
import type { DemoCommand } from '../../args/serving-commands.ts';
import { announceGateway } from '../../running/state-file.ts';
import { createStatusPage, readStatus } from '../../../gateway/servers/gateway-status.ts';
import { chooseLogin } from '../../serving/login-options.ts';
import { serveHttp, serveStdio } from '../../serving/serve-until-end.ts';
import type { OpenedPort } from '../../serving/serve-until-end.ts';
import { toClientLines, toWelcomeLines } from '../../serving/welcome-lines.ts';
import type { WelcomeOptions } from '../../serving/welcome-lines.ts';
import { createCliLog } from '../../terminal/cli-log.ts';
import { uncoloured } from '../../terminal/print.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { createDemoServer } from './demo-server.ts';

const TOOLS = 'tools   add, weather, countdown, book_table, summarize; and resources, a template, a prompt';

export async function runDemo(command: DemoCommand, print: Printer): Promise<number> {
  const { port, host, open, stdio } = command;
  const log = createCliLog(command.log ?? 'error');
  const server = createDemoServer({ version: version(), log });
  const { name } = server.info;
  const started = new Date().toISOString();
  const pages = { '/status': createStatusPage(() => gateway, started) };
  const auth = chooseLogin({ host: stdio ? undefined : host, open: open || isLoopback(host) }); // it does no harm here
  const gateway = createGateway({
    name,
    version: version(),
    servers: { demo: server },
    log,
    pages,
    auth,
    console: true,
  });
  let lines: string[] = [];
  const served = {
    stdio: () => gateway.listen({ stdio: true }),
    http: (options: HttpListenOptions) => gateway.listen(options),
    drain: () => gateway.drain(),
    close: () => Promise.all([gateway.close(), server.close()]),
    announce: (url?: string) =>
      announceGateway({
        url,
        serves: 'the demo',
        lines: () => lines,
        status: () => readStatus(gateway, started),
        open: async () => toConsoleLink(await gateway.pair()),
        accept: (socket, asked) => gateway.listen({ stdio: true, input: socket, output: socket, ...asked }),
      }),
  };
  const onOpen = (opened: OpenedPort): void => {
    const said = toWelcome(command, opened, print);
    lines = toClientLines({ ...said, print: uncoloured(print) });
    for (const line of toWelcomeLines(said)) print.line(line);
  };
  return stdio ? serveStdio(served, print) : serveHttp(served, { wanted: { port, host, open }, onOpen }, print);
}

function toWelcome({ host, open }: DemoCommand, { port, isChosen }: OpenedPort, print: Printer): WelcomeOptions {
  return {
    host,
    open,
    port,
    isChosen,
    print,
    title: 'demo server',
    name: 'parley',
    about: [TOOLS],
    program: () => ({ words: ['demo', '--stdio'] }),
    sample: { tool: 'weather', args: { city: 'Oslo' } },
  };
}
