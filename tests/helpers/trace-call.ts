// Which sources a call runs, through a gateway and to servers, by V8's precise coverage of the built package and its source maps; and which
// objects it makes, by counting them (tests/fixtures/programs/count-objects.mjs).
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

/** Objects that a call made, by what made them in which source; `name` is the class of instances. */
export interface MadeObjects {
  source: string;
  kind: 'instance' | 'literal' | 'closure';
  name: string;
  count: number;
}

/** What a call through a gateway with three steps to a server on stdio runs, and one during which the server asks a question. */
export function traceGateway(client: string, server: string): Promise<Record<'call' | 'question', CallTrace>> {
  return runTraced('traced-gateway', [client, server, ...(fixture('bridged', ['--stdio']).args ?? [])]);
}

/** What the first of these calls makes. */
export async function countGatewayObjects(client: string, server: string): Promise<MadeObjects[]> {
  const args = [client, server, ...(fixture('bridged', ['--stdio']).args ?? [])];
  const flags = ['--import', join(PROGRAMS, 'count-objects.mjs')];
  const { call } = await runProgram<'call', { place: string; count: number }[]>('traced-gateway', args, flags);
  return toMadeObjects(call);
}

/** What a call to a bare server over HTTP runs, and an answer to a question of a flow until the next question is in the reply. */
export function traceServer(client: string, flowClient: string): Promise<Record<'call' | 'answer', CallTrace>> {
  return runTraced('traced-server', [client, flowClient]);
}

async function runTraced<Name extends string>(program: string, args: string[]): Promise<Record<Name, CallTrace>> {
  const traces = Object.entries(await runProgram<Name, Run[]>(program, args)) as [Name, Run[]][];
  return Object.fromEntries(traces.map(([name, runs]) => [name, toSources(runs)])) as Record<Name, CallTrace>;
}

async function runProgram<Name extends string, T>(
  program: string,
  args: string[],
  flags: string[] = [],
): Promise<Record<Name, T>> {
  const child = spawn(process.execPath, [...flags, join(PROGRAMS, `${program}.mjs`), ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'production' }, // flows wait in memory
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(printed) as Record<Name, T>;
}

function toMadeObjects(made: { place: string; count: number }[]): MadeObjects[] {
  const sourceOf = createSourceFinder();
  return made.flatMap(({ place, count }) => {
    const [, file, offset, kind, name] = /^(.+):(\d+):(\w+):(.*)$/.exec(place)!;
    const source = sourceOf(file!, Number(offset));
    return source === undefined ? [] : { source, kind: kind as MadeObjects['kind'], name: name!, count };
  });
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
