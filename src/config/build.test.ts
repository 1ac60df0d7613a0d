import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createGateway } from '../gateway/gateway.ts';
import { applyConfig } from './apply.ts';
import type { GatewayUpdate } from './apply.ts';
import { buildGateway, buildListens } from './build.ts';
import { normalize } from './normalize.ts';
import type { ConfigInput } from './schema.ts';
import type { StepSource } from './steps.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-build-'));
afterAll(() => rmSync(root, { recursive: true }));

const made: unknown[] = [];
const steps: StepSource = {
  byName: (name) => (name === 'log' ? (options) => (made.push(options), { name }) : undefined),
  loadStep: (path, options) => Promise.resolve({ name: `${path} ${JSON.stringify(options)}` }),
};

function normal(input: ConfigInput) {
  return normalize(input, root);
}

describe('building', () => {
  it('gives createGateway what it takes', async () => {
    const config = normal({
      mcpServers: {
        files: { command: 'node', args: ['x.js'], env: { A: '1' }, timeoutMs: 5, start: 'lazy' },
        web: { url: 'https://e.com', era: 'stateless', transport: 'sse' },
        off: { command: 'x', disabled: true },
      },
      groups: { all: ['files', 'off'] },
      steps: ['log', { './mine.ts': { a: 1 } }],
      keys: 'a'.repeat(16),
      log: 'silent',
      limits: { maxDepth: 3 },
      listen: { allowedHosts: ['e.com'] },
    });
    const options = await buildGateway(config, { steps });
    expect(Object.keys(options.servers)).toEqual(['files', 'web']);
    expect(options.servers['files']).toMatchObject({
      server: { command: 'node', args: ['x.js'], env: { A: '1' } },
      ...{ share: 'auto', start: 'lazy', timeoutMs: 5 },
    });
    expect(options.servers['web']).toMatchObject({ server: { url: 'https://e.com', transport: 'http+sse' } });
    expect(options.servers['web']).toHaveProperty('revision', expect.stringMatching(/^\d{4}-/));
    expect(options).toMatchObject({
      groups: { all: ['files'] },
      steps: [{ name: 'log' }, { name: `${join(root, 'mine.ts')} {"a":1}` }],
      ...{ keys: ['a'.repeat(16)], limits: { maxDepth: 3 }, allowedHosts: ['e.com'], names: 'on-collision' },
    });
    await createGateway(options).close();
  });

  it('refuses a step that nobody knows', async () => {
    await expect(buildGateway(normal({ servers: {}, steps: ['nope'] }), { steps })).rejects.toThrow(
      'no step is called "nope"',
    );
  });

  it('reads the files for TLS', async () => {
    writeFileSync(join(root, 'key.pem'), 'KEY');
    const config = normal({
      servers: {},
      listen: { stdio: true, port: 0, tls: { key: 'key.pem', cert: '-----BEGIN X' } },
    });
    const tls = { key: 'KEY', cert: '-----BEGIN X' };
    expect(await buildListens(config)).toEqual([{ port: 0, host: '127.0.0.1', tls }, { stdio: true }]);
    expect(await buildListens(normal({ servers: {}, listen: { stdio: true } }))).toEqual([{ stdio: true }]);
  });
});

describe('applying a new configuration', () => {
  const before = normal({
    servers: { same: { command: 'a' }, changed: { command: 'b' }, gone: { command: 'c' }, off: { command: 'd' } },
    steps: ['log'],
  });
  const after = normal({
    servers: {
      new: { command: 'n' },
      same: { command: 'a', description: 'for people' },
      changed: { command: 'b', args: ['x'] },
      off: { command: 'd', disabled: true },
    },
    steps: ['log'],
    groups: { g: ['same'] },
    listen: 1,
  });

  async function apply(stepsChanged = false) {
    const { servers } = await buildGateway(before, { steps });
    const updates: GatewayUpdate[] = [];
    const gateway = { update: (update: GatewayUpdate) => void updates.push(update) };
    const difference = await applyConfig(gateway, before, after, { steps, stepsChanged });
    return { servers, update: updates[0]!, difference };
  }

  it('tells what is different', async () => {
    expect((await apply()).difference).toEqual({
      ...{ added: ['new'], removed: ['gone', 'off'], changed: ['changed'], unchanged: ['same'] },
      ...{ steps: false, names: false, groups: true, restart: ['listen'] },
    });
  });

  it('keeps the entry of a server that has not changed, and steps with what they remember', async () => {
    const { servers, update } = await apply();
    expect(Object.keys(update.servers)).toEqual(['new', 'same', 'changed']);
    expect(update.servers['same']).toBe(servers['same']);
    expect(update.servers['changed']).not.toBe(servers['changed']);
    expect(update).not.toHaveProperty('steps');
    expect(update.groups).toEqual({ g: ['same'] });
  });

  it('makes steps anew when one of their files has changed', async () => {
    expect((await apply(true)).update.steps).toEqual([{ name: 'log' }]);
  });
});
