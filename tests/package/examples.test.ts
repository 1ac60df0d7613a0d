// The examples in the comments of the public declarations compile as strict TypeScript, each by itself, against the types that the
// package ships; and the names that people start with have one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compileStrictly } from '../helpers/compile-strictly.ts';
import { ROOT, read } from '../helpers/files.ts';

/** What README.md and the guides use: of each entry, and of `ask`. */
const STARTING = `
  createServer connect createGateway createAuditLog createLog respond GatewayError ProtocolError FrontMCPServer
  flow serveFlows connectFlows f msg exploreFile createSqliteStore createRedisStore createPostgresStore createTokens
  confirm choice form step person event
  onCall onList onMethod onCustomMethod mapTools perClient loadStep
  filter approve rename prefix describe log redact timeout retry circuitBreaker sizeLimit cache screen fixed defaults
  testStep testServer testGateway testFlow memoryPair manualClock unanswered`
  .trim()
  .split(/\s+/);
const COMMENT =
  /\/\*\*((?:(?!\*\/)[^])*?@example(?:(?!\*\/)[^])*?)\*\/\s*(?:(?:export |declare |async )*(?:function|class|const) )?([\w$]+)/g;

const examples = [...read('dist/types/shared.d.ts').matchAll(COMMENT)].map(([, comment = '', name = '']) => ({
  name: name.replace(/\$\d+$/, ''),
  code: /```ts\n([^]*?)```/.exec(comment.replaceAll(/^[ \t]*\* ?/gm, ''))?.[1] ?? '',
}));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(ROOT, 'tests', 'package', '.examples-')); // inside the package, so that it finds itself by its name
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('every public name that people start with has an example', () => {
  const named = new Set(examples.map(({ name }) => name));
  expect(STARTING.filter((name) => !named.has(name))).toEqual([]);
});

it('every example in the public declarations compiles as strict TypeScript', () => {
  const programs = examples.map(({ name, code }) => {
    expect([name, code]).toEqual([name, expect.stringMatching(/^import /)]);
    const path = join(folder, `${name}.mts`);
    writeFileSync(path, code);
    return path;
  });
  expect(programs.length).toBeGreaterThanOrEqual(STARTING.length);
  expect(compileStrictly('--noUncheckedIndexedAccess', '--noEmit', ...programs)).toEqual({ output: '', status: 0 });
});
