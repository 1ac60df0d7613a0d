// Everything through which code can act on the world, or read it, without asking: by module of Node, the functions and the
// methods. `all` takes every function of a module; what is left out of the others only computes.

export interface BlockedModule {
  /** Functions and classes of the module; `all` of them, or those that act. */
  functions?: 'all' | readonly string[];
  /** Methods of its classes: code that has such an object from elsewhere, or makes one inside Node, comes by here. */
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

/** Of `process`. Native addons come in by `dlopen`, the inside of Node by the bindings. */
export const BLOCKED_PROCESS_METHODS = [
  ...[
    'abort',
    'chdir',
    'disconnect',
    'execve',
    'exit',
    'kill',
    'loadEnvFile',
    'openStdin',
    'reallyExit',
    'send',
    'umask',
  ],
  ...['initgroups', 'setegid', 'seteuid', 'setgid', 'setgroups', 'setuid'],
  ...['_debugEnd', '_debugProcess', '_kill', '_rawDebug', '_linkedBinding', 'binding', 'dlopen'],
] as const;

export const BLOCKED_GLOBALS = [
  ...['fetch', 'EventSource', 'WebSocket', 'setImmediate', 'setInterval', 'setTimeout'],
] as const;

/** Found in the browsers' world; kept in a file, or by the process. */
export const BLOCKED_STORES = ['localStorage', 'sessionStorage'] as const;
