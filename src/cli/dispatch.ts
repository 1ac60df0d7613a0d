// Parses the command line and runs its command. Each command is loaded when it runs, so that none waits for the code of another.
import { prestart } from '../gateway/upstream/links/server-process.ts';
import { version } from '../shared/version.ts';
import { readArgs } from './args/args.ts';
import type { RunnableCommand, WrapCommand } from './args/command.ts';
import { usageHelp, toHelp } from './args/help.ts';
import { onFirstMessage } from './running/first-message.ts';
import { gatewayId, findStartLoop } from './running/gateway-id.ts';
import { toWrappedAddress } from './running/named-server.ts';
import { untilSignal } from './signals.ts';
import type { Printer } from './terminal/print.ts';

/** Resolves with the exit status. */
export async function dispatch(argv: string[], print: Printer): Promise<number> {
  const command = readArgs(argv);
  if (command.name === 'mistake') {
    print.problem(`${command.reason}\n\n${usageHelp(command.of)}`);
    return 2;
  }
  if (command.name === 'help' || command.name === 'version') {
    print.line(command.name === 'help' ? toHelp(command.of) : version());
    return 0;
  }
  return run(command, print);
}

/** Each case loads only its own command: a client that starts `parley wrap` waits for what `wrap` needs and no more. */
async function run(command: RunnableCommand, print: Printer): Promise<number> {
  switch (command.name) {
    case 'wrap':
      return prepareWrap(command, print);
    case 'serve':
      return (await import('./commands/serve/serve.ts')).runServe(command, print);
    case 'check':
      return (await import('./commands/check.ts')).runCheck(command, print);
    case 'ls':
      return (await import('./commands/ls.ts')).runLs(command, print);
    case 'call':
      return (await import('./commands/call.ts')).runCall(command, print);
    case 'read':
      return (await import('./commands/read.ts')).runRead(command, print);
    case 'prompt':
      return (await import('./commands/read.ts')).runPrompt(command, print);
    case 'run':
      return (await import('./commands/run/run.ts')).runFlowFile(command, print);
    case 'explore':
      return (await import('./commands/explore.ts')).runExplore(command, print);
    case 'flows':
      return (await import('./commands/flows/flows.ts')).runFlows(command, print);
    case 'status':
      return (await import('./commands/status.ts')).runStatus(command, print);
    case 'trust':
      return (await import('./commands/trust.ts')).runTrust(command, print);
    case 'key':
      return (await import('./commands/key.ts')).runKey(command, print);
    case 'pair':
      return (await import('./commands/pair.ts')).runPair(command, print);
    case 'pins':
      return (await import('./commands/pins.ts')).runPins(command, print);
    case 'policy':
      return (await import('./commands/policy.ts')).runPolicy(command, print);
    case 'logs':
      return (await import('./commands/logs.ts')).runLogs(command, print);
    case 'audit':
      return (await import('./commands/audit.ts')).runAudit(command, print);
    case 'login':
      return (await import('./commands/login.ts')).runLogin(command, print);
    case 'logout':
      return (await import('./commands/login.ts')).runLogout(command, print);
    case 'logins':
      return (await import('./commands/login.ts')).runLogins(command, print);
    case 'demo':
      return (await import('./commands/demo/demo.ts')).runDemo(command, print);
    case 'completion':
      return (await import('./commands/completion.ts')).runCompletion(command, print);
  }
}

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
    void import('../gateway/upstream/links/stdio.ts');
  } else if (/^http/i.test(String(address.url))) {
    void import('../gateway/upstream/links/streamable-http.ts');
  }
  if (port !== undefined) void import('../gateway/accept/http/listen-http.ts');
}
