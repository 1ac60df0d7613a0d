// Exploring touches nothing: flows and modules that do all there is to do to the world by themselves, in the body, at module scope, and
// in a dependency. What they would touch is looked at from outside.
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exploreFile } from 'mcp-parley/flow';
import { ATTACKS, PARTS } from '../fixtures/explore/attacks.ts';
import { ROOT } from '../helpers/files.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

const home = mkdtempSync(join(tmpdir(), 'parley-explore-'));
const dir = join(home, 'world');
let heard = 0;
const tcp = createServer((socket) => {
  heard++;
  socket.destroy();
});
const udp = createSocket('udp4');
let port = 0;

beforeAll(async () => {
  mkdirSync(dir);
  mkdirSync(join(home, 'node_modules'));
  symlinkSync(ROOT, join(home, 'node_modules/mcp-parley'));
  writeFileSync(join(dir, 'kept'), 'as it was');
  writeFileSync(
    join(dir, 'script.mjs'),
    `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(dir)} + '/left', '');`,
  );
  writeFileSync(join(dir, 'addon.node'), 'no addon');
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  port = (tcp.address() as AddressInfo).port;
  udp.bind(port, '127.0.0.1');
  await once(udp, 'listening');
  udp.on('message', () => heard++);
});
afterAll(() => {
  tcp.close();
  udp.close();
  removeFolder(home);
});

/** As it was before anybody did anything. */
function expectUntouched(): void {
  expect(readdirSync(dir).toSorted()).toEqual(['addon.node', 'kept', 'script.mjs']);
  expect(readFileSync(join(dir, 'kept'), 'utf8')).toBe('as it was');
  expect(heard).toBe(0);
}

let files = 0;
function write(text: string, name = `flow-${files++}.mjs`): string {
  const path = join(home, name);
  mkdirSync(join(path, '..'), { recursive: true });
  const world = `const dir = ${JSON.stringify(dir)}; const port = ${port};`;
  writeFileSync(path, `${world} ${PARTS}\n${text}\n`);
  return path;
}

const all = Object.values(ATTACKS)
  .map((attack) => `try { await (${attack}); } catch {}`)
  .join('\n');
const FLOW = `import { flow } from 'mcp-parley/flow';\nexport const x = flow({ name: 'x' }, body);`;

describe('the ways out of a process that explores', () => {
  it('all throw before they act, without the help of Node', () => {
    const script = join(ROOT, 'tests/fixtures/explore/every-way-out.ts');
    const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', script, dir, String(port)], {
      cwd: ROOT,
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(stderr).toBe('');
    const { open, unknown, first } = JSON.parse(stdout) as { open: string[]; unknown: string[]; first: unknown };
    expect(open).toEqual([]);
    expect(first).toMatchObject({ what: 'fs.writeFileSync' });
    // Parts of Node that compute, or are made of those above. A new part belongs here, or among the ways out.
    const harmless = `
      assert assert/strict async_hooks buffer console constants diagnostics_channel domain events path
      path/posix path/win32 perf_hooks process punycode querystring readline readline/promises stream
      stream/consumers stream/promises stream/web string_decoder sys url util util/types vm zlib test/reporters
      node:test/reporters node:test node:sea node:sqlite`
      .trim()
      .split(/\s+/);
    expect(unknown.filter((name) => !harmless.includes(name))).toEqual([]);
    expectUntouched();
  });
});

describe('a file that does all of it, and catches what is thrown', () => {
  it.each([
    [
      'in the body of a flow',
      () => write(`${FLOW}\nasync function body(ask) { await ask.text('first');\n${all}\n}`),
      /fs\.writeFileSync.*flow-\d+\.mjs:5/,
    ],
    [
      'at module scope',
      () => write(`${FLOW}\nasync function body(ask) {}\nawait attack();\nasync function attack() {\n${all}\n}`),
      /fs\.writeFileSync.*flow-\d+\.mjs:\d+/,
    ],
    [
      'in a dependency',
      () => {
        write(`export async function attack() {\n${all}\n}`, 'node_modules/dep/index.mjs');
        return write(
          `import { attack } from './node_modules/dep/index.mjs';\n${FLOW}\nasync function body(ask) {\n  await attack(); }`,
        );
      },
      /fs\.writeFileSync.*dep\/index\.mjs:3.*called from .*flow-\d+\.mjs:6/,
    ],
    [
      'in a dependency, at module scope',
      () => {
        write(`export const x = await (async () => {\n${all}\n})();`, 'node_modules/other/index.mjs');
        return write(`import './node_modules/other/index.mjs';\n${FLOW}\nasync function body(ask) {}`);
      },
      /fs\.writeFileSync.*other\/index\.mjs:3/,
    ],
  ])('has touched nothing: %s', async (_, make, told) => {
    const thrown = (await exploreFile(make()).catch((error: unknown) => error)) as Error;
    expect(thrown).toMatchObject({ code: 'FLOW_REACHES_OUT' });
    expect(thrown.message).toMatch(told);
    expectUntouched();
  });
});
