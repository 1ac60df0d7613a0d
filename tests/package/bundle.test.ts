// Checks the built files: few, loaded completely, in dependency order, with one copy of every class under its own name.
import { readFileSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { STEP_ORDER } from '../../src/gateway/features/step-order.ts';
import { ROOT } from '../helpers/files.ts';

const DIST = join(ROOT, 'dist');
/** What was read of each file. */
const imports = new Map<string, string[]>();

describe('the built files', () => {
  it('import each other in one direction', () => {
    expect(files().flatMap((file) => cycleFrom(file))).toEqual([]);
  });

  it('the built files are few before `parley wrap` starts its server, and none is the gateway', () => {
    expect(reached('cli/main.js')).toEqual(['chunks/rolldown-runtime.js', 'chunks/start.js', 'cli/main.js']);
  });

  it('contain neither steps nor configuration for `parley wrap` on a port', () => {
    const loaded = reached('chunks/ports.js');
    expect(loaded).toContain('chunks/http.js');
    for (const name of ['steps', 'gateways', 'config', 'serve']) expect(loaded).not.toContain(`chunks/${name}.js`);
  });

  it('the built files are few before `parley serve` answers', () => {
    expect(reached('chunks/serve.js').length).toBeLessThanOrEqual(10);
  });

  it('the built files have every class once, and none in the entries', () => {
    const processes = ['cli/main.js', 'flow/explore/child.js', 'flow/operator/replay-child.js'];
    const entries = files().filter((file) => !file.startsWith('chunks/') && !processes.includes(file));
    expect(entries.length).toBeGreaterThan(4);
    for (const file of entries) expect(read(file), file).not.toMatch(/^(?:class|function|const|let|var) /m);
  });

  it('keep the name of every step', async () => {
    const entry = pathToFileURL(join(DIST, '_entries', 'middleware.js')).href;
    const built = (await import(entry)) as Record<string, { name: string }>;
    for (const { name } of STEP_ORDER) expect(built[name]?.name).toBe(name);
  });

  it('the script of the console is one file of at most 60 kB, compressed, and its style at most 12 kB', () => {
    const folder = join(DIST, 'console');
    const sizes = (end: string) =>
      readdirSync(folder)
        .filter((name) => name.endsWith(end))
        .map((name) => gzipSync(readFileSync(join(folder, name))).length);
    expect(sizes('.js')).toHaveLength(1);
    expect(sizes('.js')[0]).toBeLessThanOrEqual(60_000);
    expect(sizes('.css')[0]).toBeLessThanOrEqual(12_000);
    expect(readFileSync(join(folder, 'index.html'), 'utf8')).not.toMatch(/app\.(?:js|css)/);
  });

  it('the built files have source maps', () => {
    const map = JSON.parse(read('chunks/start.js.map')) as { sources: string[] };
    expect(map.sources.map((source) => posix.join('chunks', source))).toContain('../src/cli/dispatch.ts');
  });
});

function files(): string[] {
  const all = readdirSync(DIST, { recursive: true, encoding: 'utf8' });
  const scripts = all.filter((path) => path.endsWith('.js')).map((path) => path.replaceAll('\\', '/'));
  return scripts.filter((path) => !path.startsWith('console/')); // for browsers
}

/** The files that are loaded with it, itself included. */
function reached(file: string, seen = new Set<string>()): string[] {
  if (!seen.has(file)) {
    seen.add(file);
    for (const next of importsOf(file)) reached(next, seen);
  }
  return [...seen].sort();
}

function cycleFrom(file: string): string[] {
  return importsOf(file).flatMap((next) => (reached(next).includes(file) ? [`${file} ⇄ ${next}`] : []));
}

/** Static imports only. */
function importsOf(file: string): string[] {
  const known = imports.get(file);
  if (known) return known;
  const found = read(file).matchAll(/^(?:import|export)\b[^;]*?from "(\.[^"]+)";$|^import "(\.[^"]+)";$/gm);
  const all = [...found].map(([, from, bare]) => posix.join(posix.dirname(file), (from ?? bare)!));
  imports.set(file, all);
  return all;
}

function read(file: string): string {
  return readFileSync(join(DIST, file), 'utf8');
}
