// `node parley.mjs --port 0` or `--stdio`: the public API with its defaults. `--before` takes that of the checkout PARLEY_BEFORE.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LARGE } from '../texts.mjs';
import { ready } from './usage.mjs';

// bench/ is a package of its own, so 'mcp-parley' does not name the checkout here. Asked from the checkout's package it
// does, and by its exports: what is measured is the built code that users get.
const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, stdio: { type: 'boolean' }, before: { type: 'boolean' } },
});
const ours = new URL('../../package.json', import.meta.url);
const fromCheckout = createRequire(values.before ? join(process.env.PARLEY_BEFORE, 'package.json') : ours);
const { createServer } = await import(fromCheckout.resolve('mcp-parley'));

const server = createServer({ name: 'parley', version: '1.0.0' });
server.tool(
  'echo',
  { input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
  ({ text }) => text,
);
server.tool('blob', {}, () => LARGE);

const where = values.stdio ? { stdio: true } : { port: Number(values.port), host: '127.0.0.1' };
const listening = await server.listen(where);
ready(listening?.url);
