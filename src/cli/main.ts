#!/usr/bin/env node
// The command `parley`: words typed by a person in, exit status out. 0 is a good end, 1 something that went wrong while
// running, 2 a command line that was not understood. Nothing imports this file, and what it does is in others: an
// import of it would wait for its end.
import { dispatch } from './dispatch.ts';
import { createPrinter } from './terminal/print.ts';
import { secondSignal } from './signals.ts';
import { assumeSize } from './terminal/terminal-size.ts';

/** By then the first answer is given: loading `node:v8` would delay it. */
const SETTLED_MS = 200;

// Calls end soon, but under load many of them outlive a collection of young objects, from which V8 learns to make their parts
// old from birth. Then they stay until everything is collected, and all that hangs on them with them: a third of the CPU went there.
setTimeout(() => {
  process.getBuiltinModule('node:v8').setFlagsFromString('--no-allocation-site-pretenuring');
}, SETTLED_MS).unref();

for (const stream of [process.stdout, process.stderr]) assumeSize(stream);
const print = createPrinter();
const status = await Promise.race([dispatch(process.argv.slice(2), print), secondSignal]);
await print.flush();
process.exit(status);
