import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../../kernel/base/log.ts';
import { chainOf } from '../../../kernel/fake-exchange.contract.ts';
import { watchStep } from './watch-step.ts';
import type { WatchedStep } from './watch-step.ts';

let folder: string;
let watched: WatchedStep | undefined;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'parley-watch-'))));
afterEach(() => {
  watched?.close();
  rmSync(folder, { recursive: true });
});

const lines: string[] = [];
const log = createLog({ level: 'info', write: (line) => lines.push(line) });
const source = (version: string) => `import { onCall, respond } from 'mcp-parley/middleware';
  export default onCall(function answer() { return respond({ version: '${version}' }); });`;

async function started(onReload?: () => void, isStillTrusted?: () => boolean) {
  const path = join(folder, 'answer.ts');
  writeFileSync(path, source('one'));
  watched = await watchStep(path, { log, onReload, isStillTrusted });
  lines.length = 0;
  const call = chainOf([watched.step], () => ({ version: 'none' }));
  return { path, said: async (method = 'tools/call') => (await call(method)).version };
}

describe('a step that is watched', () => {
  it('a step that is watched does what the newest version does, in the chain it is part of', async () => {
    const reloaded = vi.fn();
    const { path, said } = await started(reloaded);
    expect([await said(), await said('tools/list')]).toEqual(['one', 'none']);
    writeFileSync(path, source('two'));
    await vi.waitFor(async () => expect(await said()).toBe('two'), { timeout: 50_000 });
    expect(reloaded).toHaveBeenCalled();
    expect(lines.join('')).toContain('step.reloaded');
  });

  it('a step that is watched is loaded again when an editor puts another file in its place', async () => {
    const { path, said } = await started();
    writeFileSync(`${path}.tmp`, source('three'));
    renameSync(`${path}.tmp`, path);
    await vi.waitFor(async () => expect(await said()).toBe('three'), { timeout: 50_000 });
  });

  it('keeps the old version when the new one is bad, says so, and continues with a good one', async () => {
    const { path, said } = await started();
    writeFileSync(path, 'export default this is not a step');
    await vi.waitFor(() => expect(lines.join('')).toContain('step.kept'), { timeout: 50_000 });
    expect(await said()).toBe('one');
    writeFileSync(path, source('mended'));
    await vi.waitFor(async () => expect(await said()).toBe('mended'), { timeout: 50_000 });
  });

  it('a look at whether a step is still trusted that fails keeps the old version, and the next change is seen', async () => {
    let fails = 1;
    const { path, said } = await started(undefined, () => {
      if (fails-- > 0) throw new Error('the trusted files cannot be read');
      return true;
    });
    writeFileSync(path, source('two'));
    await vi.waitFor(() => expect(lines.join('')).toContain('the trusted files cannot be read'), { timeout: 50_000 });
    expect(await said()).toBe('one');
    writeFileSync(path, source('three'));
    await vi.waitFor(async () => expect(await said()).toBe('three'), { timeout: 50_000 });
  });

  it('a step that is watched must be good at the start', async () => {
    const path = join(folder, 'bad.ts');
    writeFileSync(path, 'nonsense here');
    await expect(watchStep(path, { log })).rejects.toMatchObject({ code: 'BAD_OPTION' });
  });
});
