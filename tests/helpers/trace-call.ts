// Which sources a call runs, through a gateway and to servers, by V8's precise coverage of the built package and its source maps.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { ROOT } from './files.ts';
import { fixture } from './fixture-server.ts';

interface Run {
  file: string;
  functionName: string;
  startOffset: number;
  count: number;
}

/** The functions that ran, by source file. */
export type CallTrace = Map<string, { name: string; count: number }[]>;

/** What a call through a gateway with three steps to a server on stdio runs, and one during which the server asks a question. */
export function traceGateway(client: string, server: string): Promise<Record<'call' | 'question', CallTrace>> {
  return runTraced('traced-gateway', [client, server, ...(fixture('bridged', ['--stdio']).args ?? [])]);
}

/** What a call to a bare server over HTTP runs, and an answer to a question of a flow until the next question is in the reply. */
export function traceServer(client: string, flowClient: string): Promise<Record<'call' | 'answer', CallTrace>> {
  return runTraced('traced-server', [client, flowClient]);
}

async function runTraced<Name extends string>(program: string, args: string[]): Promise<Record<Name, CallTrace>> {
  const path = join(ROOT, 'tests', 'fixtures', 'programs', `${program}.mjs`);
  const child = spawn(process.execPath, [path, ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'production' }, // flows wait in memory
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const traces = Object.entries(JSON.parse(printed) as Record<Name, Run[]>) as [Name, Run[]][];
  return Object.fromEntries(traces.map(([name, runs]) => [name, toSources(runs)])) as Record<Name, CallTrace>;
}

function toSources(runs: Run[]): CallTrace {
  const places = new Map<string, (offset: number) => string | undefined>();
  const trace: CallTrace = new Map();
  for (const { file, functionName: name, startOffset, count } of runs) {
    if (!places.has(file)) places.set(file, sourceFinder(fileURLToPath(file)));
    const source = places.get(file)!(startOffset);
    if (source !== undefined) trace.set(source, [...(trace.get(source) ?? []), { name, count }]);
  }
  return trace;
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
