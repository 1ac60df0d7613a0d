import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { chainOf } from '../../../kernel/fake-exchange.contract.ts';
import { loadStep } from './load-step.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'parley-steps-'))));
afterAll(() => rmSync(folder, { recursive: true }));

function written(file: string, source: string): string {
  writeFileSync(join(folder, file), source);
  return join(folder, file);
}

const answering = (result: string) => `({ result: ${result}, [Symbol.for('mcp-parley.outcome')]: true })`;

describe('a step from a file', () => {
  it('a step from a file may be TypeScript, a default export, and use this package though none is installed there', async () => {
    const path = written(
      'guard.ts',
      `import { GatewayError, type StepFunction } from 'mcp-parley';
       import { onCall } from 'mcp-parley/middleware';
       const guard: StepFunction = (exchange, next) => {
         if (exchange.params.name === 'rm') throw new GatewayError('TOOL_NOT_FOUND', { name: 'rm' });
         return next();
       };
       export default onCall(guard);`,
    );
    const step = await loadStep(path);
    expect(step).toMatchObject({ name: 'guard', methods: ['tools/call'] });
    const call = chainOf([step], () => ({ ok: true }));
    expect(await call('tools/call', { name: 'ls' })).toEqual({ ok: true });
    const error = await call('tools/call', { name: 'rm' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });

  it.each(['mjs', 'js', 'ts', 'mts'])('a step from a file may be a named function in .%s', async (extension) => {
    const path = written(`named.${extension}`, `export async function hello(exchange, next) { return next(); }`);
    expect((await loadStep(path)).name).toBe('hello');
  });

  it('a step from a file may be an object, or a function without a name, then called like its file', async () => {
    const path = written('object.mjs', `export const step = { name: 'mine', onChange: (change) => change };`);
    expect(await loadStep(path)).toMatchObject({ name: 'mine' });
    const bare = written('bare-one.mjs', `export default (exchange, next) => next();`);
    expect((await loadStep(bare)).name).toBe('bare-one');
    const common = written('common.cjs', `module.exports = function old(exchange, next) { return next(); };`);
    expect((await loadStep(common)).name).toBe('old');
  });

  it('a step from a file is made by its function where options are given', async () => {
    const path = written(
      'factory.ts',
      `export default function limit(options: { to: number }) {
         return function limit() { return ${answering('{ to: options.to }')}; };
       }`,
    );
    expect(await chainOf([await loadStep(path, { to: 7 })], () => ({}))('tools/list')).toEqual({ to: 7 });
    const object = written('no-factory.mjs', `export default { name: 'x', handle: (exchange, next) => next() };`);
    await expect(loadStep(object, { to: 7 })).rejects.toThrow(
      'takes no options, because it does not export a function',
    );
  });

  it('a step from a file is read again each time, with what it imports by path', async () => {
    written('part.ts', `export const word: string = 'one';`);
    const path = written(
      'whole.ts',
      `import { word } from './part.ts'; export default () => ${answering('{ word }')};`,
    );
    const said = async () => chainOf([await loadStep(path)], () => ({}))('tools/list');
    expect(await said()).toEqual({ word: 'one' });
    written('part.ts', `export const word: string = 'two';`);
    expect(await said()).toEqual({ word: 'two' });
  });

  it.each([
    ['export const a = 1;', 'does not export a step: a function (exchange, next), or { name, handle }'],
    ['export default 5;', 'does not export a step'],
    ['export function a() {} export function b() {}', 'exports a, b: make the step the default export'],
    ['export default const x = ;', 'ParseError'],
    ["throw new Error('at start');", 'at start'],
    ["import './nowhere.ts';", 'nowhere'],
  ])('that is wrong is told with its path: %s', async (source, reason) => {
    const path = written('wrong.ts', source);
    const error = await loadStep(path).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'BAD_OPTION', details: { option: path } });
    expect((error as Error).message).toContain(reason);
    expect((error as Error).message).not.toContain('\n');
  });

  it('a missing file is reported', async () => {
    const reason = 'there is no such file';
    await expect(loadStep(join(folder, 'none.ts'))).rejects.toMatchObject({ code: 'BAD_OPTION', details: { reason } });
  });
});
