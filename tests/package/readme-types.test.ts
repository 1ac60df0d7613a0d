// The programs of README.md and docs/ as TypeScript in the strictest settings, against the types that the package ships. Each is whole: it
// has its imports. One that begins with a comment that names a file is imported by the others of its page.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compileStrictly } from '../helpers/compile-strictly.ts';
import { ROOT, filesUnder, read } from '../helpers/files.ts';

const STRICTEST = ['--noUncheckedIndexedAccess', '--noEmit', '--allowImportingTsExtensions'];
/** What has no types here: other runtimes, and packages whose types are packages of their own. */
const ELSEWHERE = `declare const Bun: { serve(options: { port: number; fetch(request: Request): Promise<Response> }): void };
declare const Deno: { serve(options: { port: number }, fetch: (request: Request) => Promise<Response>): void };
declare module 'express' {
  type Handle = import('mcp-parley').HttpEndpoint['handle'];
  export default function express(): { use(handle: Handle): void; use(path: string, handle: Handle): void; listen(port: number): void };
}
`;
/** Code of files that have checks of their own is JavaScript, and is compared with them (flows-doc.test.ts). */
const BLOCK = /(<!-- file: .+ -->\n)?^```(?:js|ts)\n([\s\S]*?)^```/gm;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(ROOT, 'tests', 'package', '.readme-')); // inside the package, so that it finds itself by its name
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('every program in README.md and docs/ compiles as strict TypeScript', () => {
  const pages = ['README.md', ...filesUnder('docs', (path) => path.endsWith('.md'))];
  const programs = pages.flatMap(programsOf);
  const on = (page: string) => programs.filter((path) => path.includes(`${page}/`)).length;
  expect([on('README'), on('embedding'), on('middleware')]).toEqual([3, expect.any(Number), expect.any(Number)]);
  expect(programs.length).toBeGreaterThanOrEqual(35);
  const elsewhere = write('elsewhere.d.ts', ELSEWHERE);
  expect(compileStrictly(...STRICTEST, elsewhere, ...programs)).toEqual({ output: '', status: 0 });
});

/** Written to files that tell the page and the line. */
function programsOf(page: string): string[] {
  const text = read(page);
  const name = page
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .replaceAll('/', '-');
  return [...text.matchAll(BLOCK)].flatMap(({ 1: file, 2: code = '', index }) => {
    if (file !== undefined) return [];
    const named = /^\/\/ ([\w-]+\.ts)$/m.exec(code.split('\n', 1)[0]!)?.[1];
    return [write(`${name}/${named ?? `line-${text.slice(0, index).split('\n').length}.mts`}`, code)];
  });
}

function write(name: string, content: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  return path;
}
