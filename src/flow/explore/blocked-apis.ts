// The Node APIs that can act on or read the outside world, by module. `all` blocks every function of a module; functions that are not
// listed only compute.

export interface BlockedModule {
  /** Blocked functions and classes of the module, or `all`. */
  functions?: 'all' | readonly string[];
  /** Blocked methods of its classes, for objects that code gets from elsewhere or through Node. */
  methods?: Readonly<Record<string, 'all' | readonly string[]>>;
}

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
export const BLOCKED_PROCESS_METHODS: readonly string[] = (
  'abort chdir disconnect execve exit kill loadEnvFile openStdin reallyExit send umask ' +
  'initgroups setegid seteuid setgid setgroups setuid ' +
  '_debugEnd _debugProcess _kill _rawDebug _linkedBinding binding dlopen'
).split(' ');

export const BLOCKED_GLOBALS = [
  'fetch',
  'EventSource',
  'WebSocket',
  'setImmediate',
  'setInterval',
  'setTimeout',
] as const;

/** Web storage, which Node keeps in a file or in the process. */
export const BLOCKED_STORES = ['localStorage', 'sessionStorage'] as const;
