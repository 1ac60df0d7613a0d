#!/usr/bin/env node
// The command `parley`. Exit status 0 is success, 1 a failure while running, 2 a usage error. Nothing may import this file: the import
// would wait until the command ends.
import { tuneCollector } from '../kernel/base/collector.ts';
import { keepCompiledCode } from './compile-cache.ts';
import { dispatch } from './dispatch.ts';
import { createPrinter } from './terminal/print.ts';
import { secondSignal } from './signals.ts';

/** By then the first answer is sent; loading `node:v8` would delay it. */
const SETTLED_MS = 200;

setTimeout(() => tuneCollector(), SETTLED_MS).unref();

keepCompiledCode();
// A terminal without a size, as in a container, reports 0 columns, which would break every line after one character. A later resize still counts.
for (const stream of [process.stdout, process.stderr]) {
  if (!stream.isTTY) continue;
  stream.columns ||= 80;
  stream.rows ||= 24;
}
const print = createPrinter();
const status = await Promise.race([dispatch(process.argv.slice(2), print), secondSignal]);
await print.flush();
process.exit(status);
