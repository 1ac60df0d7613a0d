// Parses the command line and runs its command. Each command is loaded when it runs, so that none waits for the code of another.
import { prestart } from '../mcp/connect/links/server-process.ts';
import { version } from '../kernel/version.ts';
import { readArgs } from './args/args.ts';
import { findFeatureCommand } from './args/commands.ts';
import type { OwnCommand } from './args/commands.ts';
import { usageHelp, toHelp } from './args/help.ts';
import type { WrapCommand } from './args/serving-commands.ts';
import { ownTheStateFolder } from './running/state-folder.ts';
import { onFirstMessage } from './running/first-message.ts';
import { gatewayId, findStartLoop } from './running/gateway-id.ts';
import { toWrappedAddress } from './running/named-server.ts';
import { untilSignal } from './signals.ts';
import type { Printer } from '../kernel/command/printer.ts';

/** They run programs, or write for whom they run. All others look after a gateway: root runs them as the user of the service. */
const AS_CALLED: ReadonlySet<string> = new Set([
  'wrap',
  'serve',
  'demo',
  'run',
  'explore',
  'connect',
  'bundle',
  'check',
  'completion',
]);

/** Resolves with the exit status. */
export async function dispatch(argv: string[], print: Printer): Promise<number> {
  const command = readArgs(argv);
  if (command.name === 'mistake') {
    print.problem(`${command.reason}${command.isBrief ? '\n' : '\n\n'}${usageHelp(command)}`);
    return 2;
  }
  if (command.name === 'help' || command.name === 'version') {
    print.line(command.name === 'help' ? toHelp(command.of) : version());
    return 0;
  }
  if (process.getuid?.() === 0 && !AS_CALLED.has(command.name)) {
    if (!(await import('./running/service-user.ts')).actForService(print)) return 1;
  }
  if (!ownTheStateFolder(print)) return 1;
  const feature = findFeatureCommand(command.name);
  if (feature) return feature.run(command, (await import('./command-tools.ts')).createCommandTools(print));
  return runOwn(command as OwnCommand, print);
}

function runOwn(command: OwnCommand, print: Printer): Promise<number> {
  return (RUN[command.name] as (command: OwnCommand, print: Printer) => Promise<number>)(command, print);
}

type Runners = { [Ran in OwnCommand as Ran['name']]: (command: Ran, print: Printer) => Promise<number> };

/** Each loads only its own command: a client that starts `parley wrap` waits for what `wrap` needs and no more. */
const RUN: Runners = {
  wrap: prepareWrap,
  serve: async (command, print) => (await import('./commands/serve/serve.ts')).runServe(command, print),
  connect: async (command, print) => (await import('./commands/connect/connect.ts')).runConnect(command, print),
  bundle: async (command, print) => (await import('./commands/bundle/bundle.ts')).runBundle(command, print),
  doctor: async (command, print) => (await import('./commands/doctor/doctor.ts')).runDoctor(command, print),
  init: async (command, print) => (await import('./commands/init.ts')).runInit(command, print),
  check: async (command, print) => (await import('./commands/check.ts')).runCheck(command, print),
  trust: async (command, print) => (await import('./commands/trust.ts')).runTrust(command, print),
  ls: async (command, print) => (await import('./commands/ls.ts')).runLs(command, print),
  tools: async (command, print) => (await import('./commands/tools/tools.ts')).runTools(command, print),
  call: async (command, print) => (await import('./commands/call.ts')).runCall(command, print),
  read: async (command, print) => (await import('./commands/read.ts')).runRead(command, print),
  prompt: async (command, print) => (await import('./commands/read.ts')).runPrompt(command, print),
  run: async (command, print) => (await import('./commands/run/run.ts')).runFlowFile(command, print),
  explore: async (command, print) => (await import('./commands/explore.ts')).runExplore(command, print),
  flows: async (command, print) => (await import('./commands/flows/flows.ts')).runFlows(command, print),
  key: async (command, print) => (await import('./commands/key.ts')).runKey(command, print),
  status: async (command, print) => (await import('./commands/status.ts')).runStatus(command, print),
  login: async (command, print) => (await import('./commands/login.ts')).runLogin(command, print),
  logout: async (command, print) => (await import('./commands/login.ts')).runLogout(command, print),
  logins: async (command, print) => (await import('./commands/login.ts')).runLogins(command, print),
  demo: async (command, print) => (await import('./commands/demo/demo.ts')).runDemo(command, print),
  completion: async (command, print) => (await import('./commands/completion.ts')).runCompletion(command, print),
};

async function prepareWrap(command: WrapCommand, print: Printer): Promise<number> {
  const round = findStartLoop();
  if (round !== undefined) {
    print.problem(round);
    return 1;
  }
  const id = gatewayId();
  startWrapped(command, id);
  return (await import('./commands/wrap/wrap.ts')).runWrap(command, { print, id });
}

/**
 * Starts the server while the code that will talk to it loads, on stdio at the first message of the client. From here on a signal must end
 * the server, too. The imports begin early, so that they need no time when the rest is ready.
 */
function startWrapped({ server, port }: WrapCommand, id: string): void {
  const address = toWrappedAddress(server);
  if ('command' in address) {
    void untilSignal();
    const start = (): void => prestart({ ...address, id });
    if (port === undefined) onFirstMessage(start);
    else start();
    void import('../mcp/connect/links/stdio.ts');
  } else if (/^http/i.test(String(address.url))) {
    void import('../mcp/connect/links/streamable-http.ts');
  }
  if (port !== undefined) void import('../mcp/listen/http/listen-http.ts');
}
