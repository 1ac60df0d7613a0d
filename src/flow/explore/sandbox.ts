// The inside of a sandboxed process: blocks all Node APIs with side effects, then loads flows. A blocked call throws before anything happens,
// and the first one is kept with its position. Only the module loader may still read files.
import { syncBuiltinESMExports, createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { disableWatchdog } from '../engine/watchdog.ts';
import { importFresh } from '../../kernel/files/import-fresh.ts';
import { findExportedFlows } from '../define.ts';
import type { AnyFlow } from '../define.ts';

export interface SandboxViolation {
  /** Such as `fs.rmSync`. */
  what: string;
  /** File, line and column. */
  where: string;
}

export interface Sandbox {
  /** The first violation, even if the code has caught the error. */
  readonly violation: SandboxViolation | undefined;
}

type Callable = (...given: unknown[]) => unknown;
type Holder = Record<string, unknown>;

const FRAMES = 100;
/** File functions that the loader needs. */
const READING =
  /^fs(?:\/promises)?\.(?:access|exists|fstat|lstat|open|read|readFile|readlink|realpath|stat)(?:Sync)?$|^fs\.close(?:Sync)?$/;
const LOADER = 'node:internal/modules/';
/** Frames between the loader and a file function. */
const PASSING = /^node:(?:fs|internal\/fs\/)/;
/** Parts of Node that cannot be loaded: they need a flag, or are not built in. */
const ABSENT = /^ERR_(?:UNKNOWN_BUILTIN_MODULE|INSPECTOR_NOT_AVAILABLE)/;

const OURS = ['mcp-parley', 'mcp-parley/flow'];

export const NO_FLOWS = 'exports no flow: make one with flow() of mcp-parley/flow and export it';

/** Loads what the loader needs, then closes the sandbox. */
export async function enterSandbox(): Promise<Sandbox> {
  disableWatchdog();
  // Would otherwise be loaded at first use, inside the sandbox.
  await Promise.all([import('jiti'), ...OURS.map((name) => import(name) as Promise<unknown>)]);
  return createSandbox([dirname(createRequire(import.meta.url).resolve('jiti/package.json')) + sep]);
}

/** `loaders`: files whose code may read other files, as it loads them. */
export function createSandbox(loaders: readonly string[]): Sandbox {
  let first: SandboxViolation | undefined;
  const pass = (what: string): void => {
    const files = callers();
    if (READING.test(what) && isLoader(files.find(({ file }) => !PASSING.test(file))?.file ?? '', loaders)) return;
    const violation = { what, where: toPlace(files) };
    first ??= violation;
    throw new Error(`Not while exploring: ${what} at ${violation.where}`);
  };
  muteOutput();
  for (const [name, way] of Object.entries(BLOCKED_MODULES)) closeModule(name, way, pass);
  close(process as unknown as Holder, BLOCKED_PROCESS_METHODS, { of: 'process', pass });
  close(process.report as unknown as Holder, ['writeReport'], { of: 'process.report', pass });
  close(globalThis, BLOCKED_GLOBALS, { of: '', pass });
  close(AbortSignal as unknown as Holder, ['timeout'], { of: 'AbortSignal', pass });
  for (const store of BLOCKED_STORES) closeStore(store, pass);
  syncBuiltinESMExports();
  return {
    get violation() {
      return first;
    },
  };
}

type Pass = (what: string) => void;

function closeModule(name: string, { functions = [], methods = {} }: BlockedModule, pass: Pass): void {
  const module = loadBuiltin(name);
  if (!module) return;
  for (const [holder, names] of Object.entries(methods)) {
    const owner = module[holder] as { prototype?: object } | undefined;
    const methodsOf = (owner?.prototype ?? owner) as Holder | undefined;
    if (methodsOf) close(methodsOf, names, { of: `${name}.${holder}`, pass });
  }
  close(module, functions, { of: name, pass });
}

function loadBuiltin(name: string): Holder | undefined {
  try {
    return process.getBuiltinModule(`node:${name}`) as unknown as Holder | undefined;
  } catch (thrown) {
    if (ABSENT.test((thrown as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw thrown;
  }
}

function close(holder: Holder, names: 'all' | readonly string[], { of, pass }: { of: string; pass: Pass }): void {
  const all = names === 'all' ? Object.getOwnPropertyNames(holder).filter((name) => name !== 'constructor') : names;
  for (const name of all) {
    const value = holder[name];
    if (typeof value !== 'function') continue;
    const closed = toClosed(value as Callable, () => pass(of === '' ? name : `${of}.${name}`));
    Object.defineProperty(holder, name, { value: closed, configurable: true, enumerable: true, writable: true });
  }
}

/** Looks like the original: it may be a base class, or have functions of its own. */
function toClosed(original: Callable, pass: () => void): Callable {
  return new Proxy(original, {
    apply(target, self, given) {
      pass();
      return Reflect.apply(target, self, given);
    },
    construct(target, given, newTarget) {
      pass();
      return Reflect.construct(target, given, newTarget) as object;
    },
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      const isOwn = typeof value === 'function' && Object.hasOwn(target, name) && name !== 'prototype';
      const isFixed = isOwn && Object.getOwnPropertyDescriptor(target, name)?.configurable === false;
      return isOwn && !isFixed ? toClosed(value as Callable, pass) : value;
    },
  });
}

function closeStore(name: string, pass: Pass): void {
  if (!(name in globalThis)) return;
  Object.defineProperty(globalThis, name, { configurable: true, get: () => pass(name) });
}

/** Authors may debug with console.log, which must not count as a violation. */
function muteOutput(): void {
  const deaf = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  for (const name of ['stdout', 'stderr'] as const) Object.defineProperty(process, name, { value: deaf() });
  Object.defineProperty(process, 'stdin', { value: Readable.from([]) });
  const console = globalThis.console as unknown as Holder;
  for (const name of Object.keys(console)) if (typeof console[name] === 'function') console[name] = () => {};
}

interface Caller {
  file: string;
  place: string;
}

/** Innermost first, without this file. */
function callers(): Caller[] {
  const { stackTraceLimit } = Error;
  const own = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  Object.assign(Error, { stackTraceLimit: FRAMES, prepareStackTrace: (_: Error, sites: unknown) => sites });
  const sites = new Error('where').stack as unknown as NodeJS.CallSite[] | undefined;
  Object.defineProperty(Error, 'prepareStackTrace', own ?? { value: undefined, configurable: true, writable: true });
  Error.stackTraceLimit = stackTraceLimit;
  const all = (sites ?? []).map((site) => {
    const file = site.getFileName() ?? site.getEvalOrigin() ?? '';
    return { file, place: `${file}:${site.getLineNumber()}:${site.getColumnNumber()}` };
  });
  const here = all[0]?.file;
  return all.filter(({ file }) => file !== here && file !== '');
}

function isLoader(file: string, loaders: readonly string[]): boolean {
  return file.startsWith(LOADER) || loaders.some((path) => file.includes(path));
}

/** The line of the blocked call; for a dependency, the author's line as well. */
function toPlace(files: readonly Caller[]): string {
  const foreign = files.filter(({ file }) => !file.startsWith('node:'));
  const [nearest] = foreign;
  const own = foreign.find(({ file }) => !file.includes('/node_modules/') && !file.includes('\\node_modules\\'));
  if (!nearest) return 'an unknown place';
  return own && own !== nearest ? `${nearest.place}, called from ${own.place}` : nearest.place;
}

/** Loads the flows of a file. */
export async function loadInSandbox(file: string): Promise<AnyFlow[]> {
  return findExportedFlows(await load(file));
}

/** Loads the file as Node does, so that its source is the served one. Compiles what Node cannot load. */
async function load(file: string): Promise<unknown> {
  if (/\.[cm]?tsx?$/.test(file)) return importFresh(file, OURS);
  try {
    return await import(pathToFileURL(file).href);
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    // The file is in a folder where this package is not installed.
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes("'mcp-parley'")) return importFresh(file, OURS);
    throw thrown;
  }
}

interface BlockedModule {
  /** Blocked functions and classes of the module, or `all`. */
  functions?: 'all' | readonly string[];
  /** Blocked methods of its classes, for objects that code gets from elsewhere or through Node. */
  methods?: Readonly<Record<string, 'all' | readonly string[]>>;
}

/**
 * The Node APIs that can act on or read the outside world, by module. `all` blocks every function of a module; functions that are not listed only
 * compute.
 */
export const BLOCKED_MODULES: Readonly<Record<string, BlockedModule>> = {
  child_process: { functions: 'all', methods: { ChildProcess: ['spawn'] } },
  cluster: { functions: ['fork', 'setupPrimary', 'setupMaster', 'Worker'] },
  crypto: { functions: ['setEngine'] },
  dgram: { functions: 'all', methods: { Socket: ['bind', 'connect', 'send'] } },
  dns: { functions: 'all', methods: { Resolver: 'all' } },
  'dns/promises': { functions: 'all', methods: { Resolver: 'all' } },
  fs: { functions: 'all' },
  'fs/promises': { functions: 'all' },
  http: { functions: ['ClientRequest', 'get', 'request'] },
  http2: { functions: ['connect'] },
  https: { functions: ['get', 'request'] },
  inspector: { functions: 'all' },
  'inspector/promises': { functions: 'all' },
  module: { functions: ['enableCompileCache', 'flushCompileCache', 'register', 'registerHooks'] },
  net: {
    functions: ['connect', 'createConnection', 'Socket', 'Stream'],
    methods: { Socket: ['connect'], Server: ['listen'] },
  },
  os: { functions: ['setPriority'] },
  repl: { functions: 'all' },
  sqlite: { functions: 'all' },
  test: { functions: ['run'] },
  timers: { functions: ['setImmediate', 'setInterval', 'setTimeout'] },
  'timers/promises': { functions: 'all', methods: { scheduler: 'all' } },
  tls: { functions: ['TLSSocket', 'connect'] },
  trace_events: { functions: ['createTracing'] },
  tty: { functions: ['ReadStream', 'WriteStream'] },
  v8: { functions: ['setFlagsFromString', 'setHeapSnapshotNearHeapLimit', 'takeCoverage', 'writeHeapSnapshot'] },
  wasi: { functions: 'all' },
  worker_threads: { functions: ['Worker'] },
};

/** Blocked methods of `process`, including `dlopen` for native addons and the internal bindings. */
const BLOCKED_PROCESS_METHODS: readonly string[] = (
  'abort chdir disconnect execve exit kill loadEnvFile openStdin reallyExit send umask ' +
  'initgroups setegid seteuid setgid setgroups setuid ' +
  '_debugEnd _debugProcess _kill _rawDebug _linkedBinding binding dlopen'
).split(' ');

const BLOCKED_GLOBALS = ['fetch', 'EventSource', 'WebSocket', 'setImmediate', 'setInterval', 'setTimeout'] as const;

/** Web storage, which Node keeps in a file or in the process. */
const BLOCKED_STORES = ['localStorage', 'sessionStorage'] as const;
