#!/usr/bin/env node
// The command `parley`: words typed by a person in, exit status out. 0 is a good end, 1 something that went wrong while
// running, 2 a command line that was not understood.
import { readArgs } from './args.ts';
import { demo } from './commands/demo.ts';
import { HELP, MISTAKE_HELP } from './help.ts';
import { createPrinter } from './print.ts';
import type { Printer } from './print.ts';
import { version } from './version.ts';

const print = createPrinter();
process.exit(await run(process.argv.slice(2), print));

async function run(argv: string[], print: Printer): Promise<number> {
  const command = readArgs(argv);
  if (command.name === 'demo') return demo(command, print);
  if (command.name === 'mistake') {
    print.problem(`${command.reason}\n\n${MISTAKE_HELP}`);
    return 2;
  }
  print.line(command.name === 'help' ? HELP : version());
  return 0;
}
