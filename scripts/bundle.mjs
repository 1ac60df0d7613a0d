// src → dist: modules that are loaded together, in one file. Each file that Node has to find and open delays the first answer,
// and a gateway is hundreds of them. All is one graph, so that the command, the entries of the package and with them the steps
// of users share their classes. Types are tsc's, which runs before: what it refuses is not built.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { bundleConsole } from './bundle-console.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const src = join(root, 'src');

const ENTRIES = ['_entries/index', '_entries/flow', '_entries/middleware', '_entries/testing'];

/** Processes that the package starts. */
const PROCESSES = ['cli/main', 'flow/explore/child', 'flow/operator/replay-child'];

/** No entry of the package: benchmarks and tests look at these from inside. */
const INTERNALS = ['_entries/internals'];

/**
 * A chunk is a module with all that it imports, except what is in chunks before it and what it imports late. What is needed
 * first comes first. `cli/main` is in none: it runs as long as the command does, and who imports it would wait for that.
 */
const CHUNKS = {
  start: /^(?:cli\/(?:compile-cache|dispatch|terminal\/print|signals)|kernel\/base\/collector)$/, // all of main
  base: /^kernel\/(?!net\/|state\/redis-)/, // `net` brings undici, and Redis is for few: both come late
  wrap: /^(?:cli\/commands\/wrap\/wrap|mcp\/connect\/links\/inbox|mcp\/wire\/(?:paced-reader|sse))$/, // and what all links and ports share
  commands: /^mcp\/connect\/links\/stdio$/, // one of these two is loaded with it
  urls: /^mcp\/connect\/links\/streamable-http$/,
  http: /^mcp\/listen\/http\/http-endpoint$/,
  ports: /^cli\/commands\/wrap\/wrapped-port$/, // what `wrap` has on a port
  steps: /^_entries\/middleware$/,
  gateways: /^gateway\/gateway$/,
  config: /^cli\/commands\/serve\/serve$/,
  serve: /^cli\/commands\/serve\/serve-config$/,
  ...Object.fromEntries(ENTRIES.map((entry) => [entry.slice('_entries/'.length), new RegExp(`^${entry}$`)])),
};

/**
 * What is imported of Node is taken from it without the loader of modules, which would ask each part of Node for all that it can
 * give, and so make it load what it loads late.
 */
const NODE_IMPORT = /^import \{([^}]*)\} from '(node:[^']+)';$/gm;
const builtins = {
  name: 'builtins',
  transform: {
    filter: { id: /\.ts$/ },
    handler: (code) => ({ code: code.replace(NODE_IMPORT, toTaken), map: null }),
  },
};

/**
 * A module that is imported late has a file that only says which names a chunk has for it. Its importers take the chunk instead, where the
 * names are the same: a file less to find and open.
 */
const FACADE = /^export \{ [\w$, ]+ \} from "\.\/([\w.-]+)";\s*$/;
const LATE_IMPORT = /\bimport\("((?:\.\.?\/)+(?:chunks\/)?)([\w.-]+)"\)/g;
const facades = {
  name: 'facades',
  generateBundle(_options, files) {
    const chunks = Object.values(files).filter(({ type }) => type === 'chunk');
    const behind = new Map();
    for (const { fileName, code, isDynamicEntry } of chunks) {
      const chunk = isDynamicEntry && FACADE.exec(code)?.[1];
      if (!chunk || code.includes(' as ')) continue;
      behind.set(basename(fileName), chunk);
      delete files[fileName];
    }
    for (const chunk of chunks) {
      chunk.code = chunk.code.replaceAll(
        LATE_IMPORT,
        (_whole, folder, name) => `import("${folder}${behind.get(name) ?? name}")`,
      );
    }
  },
};

/**
 * In ASCII, so that V8 keeps and reads the text of a file as one byte per character. Comments are gone by now, so what is not ASCII
 * is in strings, templates and regular expressions, where an escape means the same.
 */
const ascii = {
  name: 'ascii',
  generateBundle(_options, files) {
    for (const file of Object.values(files)) {
      if (file.type === 'chunk') file.code = file.code.replaceAll(/[^\0-\x7f]/g, toEscape);
    }
  },
};

const bundle = await rolldown({
  cwd: root,
  platform: 'node',
  plugins: [builtins, facades, ascii],
  input: Object.fromEntries([...PROCESSES, ...ENTRIES, ...INTERNALS].map((name) => [name, join(src, `${name}.ts`)])),
  external: [/^node:/, ...packages().map((name) => new RegExp(`^${name}(?:/|$)`))],
  transform: { target: 'es2023' },
  onLog(level, log) {
    throw new Error(`${level}: ${log.message}`);
  },
});
const { output } = await bundle.write({
  dir: dist,
  format: 'es',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  codeSplitting: { groups: Object.entries(CHUNKS).map(toGroup) },
  sourcemap: true,
  sourcemapExcludeSources: true, // the checkout has them, and the package has no maps
  minifyInternalExports: false,
  keepNames: true, // steps are found by the names of their functions
  comments: false,
});

/** What tsc has written, in one file for each entry and one that they share; types that no entry needs are left out. */
const declarations = await rolldown({
  cwd: root,
  plugins: [dts({ dtsInput: true, tsconfig: false })],
  input: Object.fromEntries(ENTRIES.map((name) => [name, join(dist, `${name}.d.ts`)])),
  external: (id) => !id.startsWith('.') && !isAbsolute(id),
});
const { output: types } = await declarations.write({
  dir: dist,
  entryFileNames: '[name].d.ts',
  chunkFileNames: 'types/[name].d.ts',
  minifyInternalExports: false,
  codeSplitting: { groups: [{ name: 'shared', test: (id) => !ENTRIES.some((entry) => id.endsWith(`${entry}.d.ts`)) }] },
});
removeAllBut(new Set([...output, ...types].map(({ fileName }) => fileName)));
await bundleConsole({ from: join(src, 'gateway/features/console/browser'), to: join(dist, 'console') });

function toGroup([name, pattern], index, { length }) {
  const test = (id) => pattern.test(relative(src, id).replaceAll(sep, '/').replace(/\.ts$/, ''));
  return { name, test, priority: length - index };
}

/** In as many lines as before, so that the map of sources stays right. */
function toTaken(_whole, names, from) {
  const taken = names.replaceAll(/\btype \w+,?/g, '').replaceAll(' as ', ': ');
  return `const {${taken}} = process.getBuiltinModule('${from}');`;
}

function toEscape(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function packages() {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
}

/** An earlier build may have left files whose classes are not those of this one; tsc writes declarations that nobody can import. */
function removeAllBut(wanted) {
  for (const path of readdirSync(dist, { recursive: true })) {
    if (/\.(?:js|js\.map|d\.ts)$/.test(path) && !wanted.has(path.replaceAll(sep, '/'))) rmSync(join(dist, path));
  }
}
