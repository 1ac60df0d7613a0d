#!/usr/bin/env node
// The command `parley`: words typed by a person in, exit status out. 0 is a good end, 1 something that went wrong while
// running, 2 a command line that was not understood.
import { setFlagsFromString } from 'node:v8';
import { startAhead } from '../gateway/upstream/head-start.ts';
import { readArgs } from './args.ts';
import type { Runnable, WrapCommand } from './command.ts';
import { mistakeHelp, toHelp } from './help.ts';
import { createPrinter } from './print.ts';
import type { Printer } from './print.ts';
import { secondSignal, untilSignal } from './signals.ts';
import { version } from './version.ts';
import { wrappedAddress } from './wrapped-address.ts';

// Calls end soon, but under load many of them outlive a collection of young objects, from which V8 learns to make their parts
// old from birth. Then they stay until everything is collected, and all that hangs on them with them: a third of the CPU went there.
setFlagsFromString('--no-allocation-site-pretenuring');

const print = createPrinter();
const status = await Promise.race([run(process.argv.slice(2), print), secondSignal]);
await print.flush();
process.exit(status);

async function run(argv: string[], print: Printer): Promise<number> {
  const command = readArgs(argv);
  if (command.name === 'mistake') {
    print.problem(`${command.reason}\n\n${mistakeHelp(command.of)}`);
    return 2;
  }
  if (command.name === 'help' || command.name === 'version') {
    print.line(command.name === 'help' ? toHelp(command.of) : version());
    return 0;
  }
  return runCommand(command, print);
}

/** The server starts while the code that will speak with it is loaded. From here on a signal has to end it as well. */
function startWrapped({ server }: WrapCommand): void {
  const address = wrappedAddress(server);
  if (!('command' in address)) return;
  void untilSignal();
  startAhead(address);
}

/** Each command is loaded when it is run: a client that starts `parley wrap` waits for what wrap needs, and no more. */
async function runCommand(command: Runnable, print: Printer): Promise<number> {
  switch (command.name) {
    case 'wrap':
      startWrapped(command);
      return (await import('./commands/wrap.ts')).wrap(command, print);
    case 'serve':
      return (await import('./commands/serve.ts')).serve(command, print);
    case 'check':
      return (await import('./commands/check.ts')).check(command, print);
    case 'ls':
      return (await import('./commands/ls.ts')).ls(command, print);
    case 'call':
      return (await import('./commands/call.ts')).call(command, print);
    case 'run':
      return (await import('./commands/run.ts')).run(command, print);
    case 'status':
      return (await import('./commands/status.ts')).status(command, print);
    case 'demo':
      return (await import('./commands/demo.ts')).demo(command, print);
    case 'completion':
      return (await import('./commands/completion.ts')).completion(command, print);
  }
}
