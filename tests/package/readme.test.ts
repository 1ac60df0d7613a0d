// What README.md shows is what is there: code marked `<!-- example: path -->` equals that file, output marked
// `<!-- output: npm start -->` is what the built command prints. `UPDATE_DOCS=1` renews both.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAIN, startDemo } from '../helpers/built.ts';
import { ROOT, filesUnder, read } from '../helpers/files.ts';

const BLOCK = /(<!-- (example|output): (.+?) -->\n```\w*\n)([\s\S]*?)(```)/g;

const pages = ['README.md', ...filesUnder('docs', (path) => path.endsWith('.md'))];
const blocks = pages.flatMap((page) =>
  [...read(page).matchAll(BLOCK)].map(([, , kind, name, text]) => ({ page, kind, name: name!, text })),
);

describe('the documentation', () => {
  it('shows at least a server, a client and the output of npm start', () => {
    const names = blocks.filter(({ page }) => page === 'README.md').map(({ name }) => name);
    expect(names).toContain('examples/server/server.mjs');
    expect(names).toContain('npm start');
  });

  it.each(blocks)('the block in $page shows $name as it is', async ({ page, kind, name, text }) => {
    const wanted = kind === 'example' ? read(name) : await outputOf(name);
    if (process.env['UPDATE_DOCS'] === '1') renew(page, name, wanted);
    else expect(text).toBe(wanted);
  });
});

describe('the server of README.md', () => {
  it('says where it listens', async () => {
    const code = /```js\n(import \{ createServer \}[\s\S]*?)```/.exec(read('README.md'))![1]!.replace('8471', '0');
    const server = spawn(process.execPath, ['--input-type=module', '--eval', code], { cwd: ROOT });
    try {
      const [said] = (await once(server.stdout, 'data', { signal: AbortSignal.timeout(60_000) })) as [Buffer];
      const url = /^Listening at (http:\/\/127\.0\.0\.1:\d+\/mcp)\n$/.exec(String(said))![1]!;
      expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBeGreaterThanOrEqual(400);
    } finally {
      server.kill();
    }
  });
});

describe('the client of README.md', () => {
  it('works unchanged against the server above it', () => {
    const code = /```js\n(import \{ connect \}[\s\S]*?)```/.exec(read('README.md'))?.[1];
    const server = { command: process.execPath, args: [join(ROOT, 'examples/server/server.mjs'), '--stdio'] };
    const program = code!.replace("'http://127.0.0.1:8471/mcp'", JSON.stringify(server));
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: ROOT, // a program without a file looks for packages from where it runs
      encoding: 'utf8',
      timeout: 30_000,
    });
    const told = /\/\/ (.*)$/m.exec(code!)![1];
    expect({ stdout, stderr }).toEqual({ stdout: `${told}\n`, stderr: '' });
  });
});

async function outputOf(name: string): Promise<string> {
  if (name !== 'npm start') throw new Error(`no way to produce the output of ${name}`);
  const demo = await startDemo();
  await demo.end('SIGTERM');
  return demo.said.replaceAll(String(demo.port), '8470').replace(MAIN, '/path/to/parley/dist/cli/main.js');
}

function renew(page: string, name: string, wanted: string): void {
  const renewed = read(page).replaceAll(BLOCK, (block: string, head: string, _kind: string, found: string) =>
    found === name ? `${head}${wanted}\`\`\`` : block,
  );
  writeFileSync(join(ROOT, page), renewed);
}
