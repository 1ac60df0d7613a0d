// Which sources a call through a gateway runs, by V8's precise coverage of the built package and its source maps.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { ROOT } from './files.ts';
import { fixture } from './fixture-server.ts';

const PROGRAMS = join(ROOT, 'tests', 'fixtures', 'programs');

interface Run {
  file: string;
  functionName: string;
  startOffset: number;
  count: number;
}

/** The functions that ran, by source file. */
export type CallTrace = Map<string, { name: string; count: number }[]>;

/** What a call through a gateway with three steps to a server on stdio runs. */
export async function traceGateway(client: string, server: string): Promise<CallTrace> {
  const args = [join(PROGRAMS, 'traced-gateway.mjs'), client, server, ...(fixture('bridged', ['--stdio']).args ?? [])];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return toSources(JSON.parse(printed) as Run[]);
}

function toSources(runs: Run[]): CallTrace {
  const sourceOf = createSourceFinder();
  const trace: CallTrace = new Map();
  for (const { file, functionName: name, startOffset, count } of runs) {
    const source = sourceOf(file, startOffset);
    if (source !== undefined) trace.set(source, [...(trace.get(source) ?? []), { name, count }]);
  }
  return trace;
}

function createSourceFinder(): (file: string, offset: number) => string | undefined {
  const places = new Map<string, (offset: number) => string | undefined>();
  return (file, offset) => {
    if (!places.has(file)) places.set(file, sourceFinder(fileURLToPath(file)));
    return places.get(file)!(offset);
  };
}

/** Finds the source of an offset in a built file; undefined for what the bundler added. */
function sourceFinder(path: string): (offset: number) => string | undefined {
  const built = readFileSync(path, 'utf8');
  const map = new SourceMap(
    JSON.parse(readFileSync(`${path}.map`, 'utf8')) as ConstructorParameters<typeof SourceMap>[0],
  );
  return (offset) => {
    const before = built.slice(0, offset).split('\n');
    const entry = map.findEntry(before.length - 1, before.at(-1)!.length);
    if (!('originalSource' in entry) || !entry.originalSource) return undefined;
    return relative(ROOT, resolve(dirname(path), entry.originalSource))
      .split(sep)
      .join('/');
  };
}
