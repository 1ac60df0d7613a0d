import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createGateway } from '../../gateway/gateway.ts';
import { createLog } from '../../kernel/base/log.ts';
import { applyConfig } from './apply-config.ts';
import type { GatewayUpdate } from './apply-config.ts';
import { buildGateway, buildListeners } from './build-gateway.ts';
import { normalizeConfig } from '../normalize-config.ts';
import type { ConfigInput } from '../check/schema.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-build-'));
afterAll(() => rmSync(root, { recursive: true }));
const log = createLog({ level: 'silent' });

function normal(input: ConfigInput) {
  return normalizeConfig(input, root);
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
      keys: 'a'.repeat(16),
      log: 'silent',
      limits: { maxDepth: 3 },
      listen: { allowedHosts: ['e.com'] },
      publicUrl: 'https://p.example.com',
      roots: ['/srv'],
      ask: { channels: [], model: { url: 'https://m.example.com/v1', model: 'small' } },
    });
    const { options } = await buildGateway(config);
    expect(Object.keys(options.servers)).toEqual(['files', 'web']);
    expect(options.servers['files']).toMatchObject({
      server: {
        command: 'node',
        args: ['x.js'],
        env: { A: '1' },
      },
      share: 'auto',
      start: 'lazy',
      timeoutMs: 5,
    });
    expect(options.servers['web']).toMatchObject({ server: { url: 'https://e.com', transport: 'http+sse' } });
    expect(options.servers['web']).toHaveProperty('era', 'stateless');
    expect(options).toMatchObject({
      groups: { all: ['files'] },
      keys: ['a'.repeat(16)],
      limits: { maxDepth: 3 },
      allowedHosts: ['e.com'],
      names: 'always',
      roots: [{ uri: 'file:///srv' }],
      ask: {
        channels: [],
        model: {
          url: 'https://m.example.com/v1',
          model: ['small'],
        },
      },
      publicUrl: 'https://p.example.com',
    });
    await createGateway(options).close();
  });

  it('makes steps by name, and loads them from files', async () => {
    writeFileSync(
      join(root, 'mine.ts'),
      'export default function mine(exchange: unknown, next: () => unknown) { return next(); }',
    );
    writeFileSync(join(root, 'made.js'), 'export const made = ({ name }) => ({ name, handle: (_, next) => next() });');
    const config = normal({ servers: {}, steps: ['log', './mine.ts', { './made.js': { name: 'given' } }] });
    const { options, steps } = await buildGateway(config, { log, stepLog: log });
    expect(steps.steps.map(({ name }) => name)).toEqual(['log', 'mine', 'given']);
    expect(options.steps).toBe(steps.steps);
    steps.close();
  });

  it('takes the one option that matters by itself, where a step has one', async () => {
    const config = normal({ servers: {}, steps: [{ prefix: 'x_' }, { timeout: 5 }] });
    expect(config.steps).toEqual([{ prefix: { prefix: 'x_' } }, { timeout: { ms: 5 } }]);
    const { steps } = await buildGateway(config, { log });
    expect(steps.steps.map(({ name }) => name)).toEqual(['prefix', 'timeout']);
  });

  it.each([
    ['nope', 'no step is called "nope"'],
    ['./missing.js', 'missing.js'],
  ])('refuses the step %s', async (step, reason) => {
    await expect(buildGateway(normal({ servers: {}, steps: [step] }), { log })).rejects.toThrow(reason);
  });

  it('reads the files for TLS', async () => {
    writeFileSync(join(root, 'key.pem'), 'KEY');
    const listen = { stdio: true, port: 0, tls: { key: 'key.pem', cert: '-----BEGIN X' } };
    const tls = { key: 'KEY', cert: '-----BEGIN X' };
    const listens = await buildListeners(normal({ servers: {}, listen }));
    expect(listens).toEqual([{ port: 0, host: '127.0.0.1', tls }, { stdio: true }]);
    expect(await buildListeners(normal({ servers: {}, listen: { stdio: true } }))).toEqual([{ stdio: true }]);
  });
});

describe('applying a new configuration', () => {
  const before = normal({
    servers: { same: { command: 'a' }, changed: { command: 'b' }, gone: { command: 'c' }, off: { command: 'd' } },
    steps: ['log'],
  });
  const after: ConfigInput = {
    servers: {
      new: { command: 'n' },
      same: { command: 'a', description: 'for people' },
      changed: { command: 'b', args: ['x'] },
      off: { command: 'd', disabled: true },
    },
    groups: { g: ['same'] },
  };

  async function apply(steps: ConfigInput['steps'], fails = false) {
    const { options, steps: built } = await buildGateway(before, { log });
    let closed = 0;
    const former = { steps: built.steps, close: () => void (closed += 1) };
    const updates: GatewayUpdate[] = [];
    const update = (update: GatewayUpdate) => (fails ? Promise.reject(new Error('no')) : void updates.push(update));
    const next = normal({ ...after, ...(steps && { steps }) });
    const running = await applyConfig({ update }, { previous: before, next, steps: former }, { log }).catch(
      () => undefined,
    );
    return { servers: options.servers, update: updates[0]!, former, running, closed: () => closed };
  }

  it('keeps the entry of a server that has not changed, and steps with what they remember', async () => {
    const { servers, update, former, running, closed } = await apply(['log']);
    expect(Object.keys(update.servers)).toEqual(['new', 'same', 'changed']);
    expect(update.servers['same']).toBe(servers['same']);
    expect(update.servers['changed']).not.toBe(servers['changed']);
    expect(update.groups).toEqual({ g: ['same'] });
    expect(update).not.toHaveProperty('steps');
    expect([running === former, closed()]).toEqual([true, 0]);
  });

  it('keeps that entry through every later change, too', async () => {
    const { options, steps } = await buildGateway(before, { log });
    const updates: GatewayUpdate[] = [];
    const gateway = { update: (update: GatewayUpdate) => void updates.push(update) };
    let previous = before;
    for (const args of [['1'], ['2'], ['3']]) {
      const next = normal({ servers: { same: { command: 'a' }, changed: { command: 'b', args } }, steps: ['log'] });
      await applyConfig(gateway, { previous, next, steps }, { log });
      previous = next;
    }
    expect(updates.map(({ servers }) => servers['same'] === options.servers['same'])).toEqual([true, true, true]);
    expect(new Set(updates.map(({ servers }) => servers['changed'])).size).toBe(3);
  });

  it('keeps what opened a server whose rules for tools change', async () => {
    const of = (more: object) =>
      normal({
        servers: { one: { url: 'https://e.com', auth: { assertionFile: 'a' }, rate: { perServer: '1/s' }, ...more } },
      });
    const [previous, next, third] = [
      of({}),
      of({ tools: { deny: ['x'] } }),
      of({ tools: { deny: ['x'] }, timeoutMs: 1 }),
    ];
    const { options, steps } = await buildGateway(previous, { log });
    const updates: GatewayUpdate[] = [];
    const gateway = { update: (update: GatewayUpdate) => void updates.push(update) };
    await applyConfig(gateway, { previous, next, steps }, { log });
    await applyConfig(gateway, { previous: next, next: third, steps }, { log });
    type Entry = { server: object; rate: object; tools?: object };
    const [first, second, last] = [options, ...updates].map(({ servers }) => servers['one'] as unknown as Entry);
    expect(second).toMatchObject({ tools: { deny: ['x'] } });
    expect([second!.server === first!.server, second!.rate === first!.rate]).toEqual([true, true]);
    expect(last!.server).not.toBe(first!.server);
  });

  it('puts new steps in the place of the former ones', async () => {
    const { update, running, closed } = await apply(['log', { timeout: { ms: 5 } }]);
    expect(update.steps?.map(({ name }) => name)).toEqual(['log', 'timeout']);
    expect([running?.steps, closed()]).toEqual([update.steps, 1]);
  });

  it('tells of other roots, and of nothing where they are the same', async () => {
    const roots = (given: string[]) => normal({ servers: {}, roots: given });
    const updates: GatewayUpdate[] = [];
    const { steps } = await buildGateway(roots(['/a']), { log });
    for (const next of [roots(['/a']), roots(['/b'])]) {
      const gateway = { update: (update: GatewayUpdate) => void updates.push(update) };
      await applyConfig(gateway, { previous: roots(['/a']), next, steps }, { log });
    }
    expect(updates.map((update) => update.roots)).toEqual([undefined, [{ uri: 'file:///b' }]]);
  });

  it('leaves everything as it was when it fails', async () => {
    for (const { running, closed } of [await apply(['nope']), await apply([], true)]) {
      expect([running, closed()]).toEqual([undefined, 0]);
    }
  });
});
