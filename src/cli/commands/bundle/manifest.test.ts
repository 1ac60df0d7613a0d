// The variables of a configuration in a bundle, and what cannot be in one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../config/read/load-config.ts';
import { toManifest, variablesIn } from './manifest.ts';
import { notPortable } from './portable-config.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-bundle-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function reasonFor(value: object): string | undefined {
  const path = join(folder, 'parley.config.json');
  writeFileSync(path, JSON.stringify(value));
  writeFileSync(join(folder, '.env'), 'A=1');
  return notPortable(loadConfig(path, { env: { TOKEN: 'x' }, cwd: folder, home: folder }));
}

describe('the configuration in a bundle', () => {
  it('variables of the configuration in a bundle are asked for, with their defaults', () => {
    const text = '"${TOKEN}" "${env:KEY}" "${REGION:-eu}" "${TOKEN:-none}" "${workspaceFolder}/x" "${HOST:-}"';
    expect([...variablesIn(text)]).toEqual([
      ['TOKEN', undefined],
      ['KEY', undefined],
      ['REGION', 'eu'],
      ['HOST', ''],
    ]);
    const about = { name: 'parley', title: 'Parley', version: '0.1.0', words: ['serve'], hasConfig: true };
    expect(toManifest({ ...about, variables: variablesIn(text) })).toMatchObject({
      server: { mcp_config: { env: { TOKEN: '${user_config.TOKEN}', PARLEY_TRUST: '${__dirname}' } } },
      user_config: {
        TOKEN: { type: 'string', sensitive: true, required: true },
        REGION: { required: false, default: 'eu' },
      },
    });
  });

  it('what is only on this machine cannot be in a bundle', () => {
    const server = (entry: object) => ({ mcpServers: { x: entry } });
    expect(reasonFor(server({ command: 'npx', args: ['-y', 'server'], env: { A: '${TOKEN}' } }))).toBeUndefined();
    expect(reasonFor(server({ url: 'https://x.example/mcp' }))).toBeUndefined();
    expect(reasonFor(server({ command: 'node', args: ['./server.mjs'] }))).toContain('./server.mjs');
    expect(reasonFor(server({ command: '../server' }))).toContain('../server');
    expect(reasonFor(server({ command: 'npx', envFile: '.env' }))).toContain('.env');
    expect(reasonFor({ ...server({ command: 'npx' }), steps: ['./step.mjs'] })).toContain('step.mjs');
  });
});
