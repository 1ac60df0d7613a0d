import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { engineMissing } from './engine-missing.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-engine-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('the error about the missing engine has the command that installs it where Parley finds it', () => {
  const own = join(folder, 'node_modules', 'mcp-parley');
  mkdirSync(own, { recursive: true });
  expect(engineMissing(undefined, `${own}/`).message).toMatch(/npm install -g oidc-provider$/);
  writeFileSync(join(folder, 'package.json'), '{}');
  expect(engineMissing(undefined, `${own}/`).message).toContain(
    `npm install --prefix ${JSON.stringify(folder)} oidc-provider`,
  );
});
