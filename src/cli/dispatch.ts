// A command line → its command, run. It imports what every command line needs and no more: each command is loaded when it is run.
import { startAhead } from '../gateway/upstream/links/head-start.ts';
import { readArgs } from './args.ts';
import type { Runnable, WrapCommand } from './command.ts';
import { onFirstWords } from './running/first-words.ts';
import { gatewayId, roundTrip } from './running/gateway-id.ts';
import { mistakeHelp, toHelp } from './help.ts';
import type { Printer } from './terminal/print.ts';
import { untilSignal } from './signals.ts';
import { version } from '../shared/version.ts';
import { wrappedAddress } from './wrap/wrapped-address.ts';

/** Resolves with the exit status. */
export async function dispatch(argv: string[], print: Printer): Promise<number> {
  const command = readArgs(argv);
  if (command.name === 'mistake') {
    print.problem(`${command.reason}\n\n${mistakeHelp(command.of)}`);
    return 2;
  }
  if (command.name === 'help' || command.name === 'version') {
    print.line(command.name === 'help' ? toHelp(command.of) : version());
    return 0;
  }
  return run(command, print);
}

/** A client that starts `parley wrap` waits for what wrap needs, and no more. */
async function run(command: Runnable, print: Printer): Promise<number> {
  switch (command.name) {
    case 'wrap':
      return runWrap(command, print);
    case 'serve':
      return (await import('./commands/serve.ts')).serve(command, print);
    case 'check':
      return (await import('./commands/check.ts')).check(command, print);
    case 'ls':
      return (await import('./commands/ls.ts')).ls(command, print);
    case 'call':
      return (await import('./commands/call.ts')).call(command, print);
    case 'read':
      return (await import('./commands/read.ts')).read(command, print);
    case 'prompt':
      return (await import('./commands/prompt.ts')).prompt(command, print);
    case 'run':
      return (await import('./commands/run.ts')).run(command, print);
    case 'explore':
      return (await import('./commands/explore.ts')).explore(command, print);
    case 'flows':
      return (await import('./commands/flows.ts')).flows(command, print);
    case 'status':
      return (await import('./commands/status.ts')).status(command, print);
    case 'demo':
      return (await import('./commands/demo.ts')).demo(command, print);
    case 'completion':
      return (await import('./commands/completion.ts')).completion(command, print);
  }
}

async function runWrap(command: WrapCommand, print: Printer): Promise<number> {
  const round = roundTrip();
  if (round !== undefined) {
    print.problem(round);
    return 1;
  }
  const id = gatewayId();
  startWrapped(command, id);
  return (await import('./commands/wrap.ts')).wrap(command, { print, id });
}

/**
 * The server starts while the code that will speak with it is loaded, on stdio as soon as the client speaks. From here on a signal has to end it as well. What is
 * imported here would otherwise be looked for when all the rest is there.
 */
function startWrapped({ server, port }: WrapCommand, id: string): void {
  const address = wrappedAddress(server);
  if ('command' in address) {
    void untilSignal();
    const start = (): void => startAhead({ ...address, id });
    if (port === undefined) onFirstWords(start);
    else start();
    void import('../gateway/upstream/links/stdio.ts');
  } else if (/^http/i.test(String(address.url))) {
    void import('../gateway/upstream/links/streamable-http.ts');
  }
  if (port !== undefined) void import('../gateway/accept/http/listen-http.ts');
}
