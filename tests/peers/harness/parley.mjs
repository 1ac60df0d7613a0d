// The built package. PARLEY_DIST names another build, for runs while this one is being rebuilt.
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const dist = resolve(process.env.PARLEY_DIST ?? fileURLToPath(new URL('../../../dist', import.meta.url)));
const parley = await import(pathToFileURL(join(dist, '_entries/index.js')));

export const { connect, createLog, createServer } = parley;
