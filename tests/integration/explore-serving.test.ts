// Serving flows runs none of them: nobody has connected, nothing has happened. What is listed comes from what is declared and from what was
// explored, and is the same from the first list on.
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { connect, createLog, createServer } from 'mcp-parley';
import type { ParleyServer } from 'mcp-parley';
import { exploreFile, flow, serveFlows } from 'mcp-parley/flow';
import type { AnyFlow, ServeFlowsOptions } from 'mcp-parley/flow';
import { testFlow } from 'mcp-parley/testing';
import { exploredOf } from '../helpers/explored.ts';
import { ROOT, read } from '../helpers/files.ts';
import { Home } from '../helpers/parley.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

const home = new Home();
const dir = mkdtempSync(join(tmpdir(), 'parley-serving-'));
afterAll(() => {
  home[Symbol.dispose]();
  removeFolder(dir);
});

let runs = 0;
const wipe = flow({ name: 'wipe', description: 'Deletes' }, async (ask) => {
  runs++;
  if (!(await ask.confirm('sure', { message: 'Delete?', by: 'human' }))) return 'kept';
  removeFolder(join(dir, 'precious'));
  return 'deleted';
});
const quiz = flow({ name: 'quiz', description: 'Asks', version: '1' }, async (ask) => {
  await ask.text('name', { message: 'Who?' });
  for (let at = 1; at <= 30; at++) await ask.text('q', { message: `Question ${at} of many, which takes its room?` });
});

async function serving(flows: AnyFlow[], options: ServeFlowsOptions = {}) {
  const lines: { event: string; tool?: string }[] = [];
  const log = createLog({ write: (line) => void lines.push(JSON.parse(line) as { event: string }) });
  const server = createServer({ name: 'flows', version: '1', log });
  serveFlows(server, flows, options);
  const { url } = await server.listen({ port: 0 });
  return { server, url, lines };
}

async function listed(url: string): Promise<string> {
  await using client = await connect({ url });
  return JSON.stringify(await client.listTools());
}

/** Long enough for what would be done in the background. */
async function later(server: ParleyServer): Promise<void> {
  for (let at = 0; at < 50; at++) await turn();
  await server.close();
}

describe('a flow that deletes behind a consent', () => {
  it('deletes nothing when it is served, listed and played to the consent', async () => {
    mkdirSync(join(dir, 'precious'));
    const { server, url } = await serving([wipe]);
    await listed(url);
    await later(server);
    expect(runs).toBe(0);
    const played = await testFlow(wipe).asClient('relay').answer({ sure: true });
    expect(played.isError).toBe(true);
    expect(existsSync(join(dir, 'precious'))).toBe(true);
  });
});

describe('what is listed', () => {
  it('is the same before and after anything else, with the arguments that were explored', async () => {
    const { server, url } = await serving([quiz], { explored: await exploredOf(quiz) });
    const first = await listed(url);
    expect(JSON.parse(first)).toMatchObject([
      { name: 'quiz', inputSchema: { properties: { name: { type: 'string' } } } },
    ]);
    for (let at = 0; at < 50; at++) await turn();
    expect(await listed(url)).toBe(first);
    await server.close();
  });

  it('is at most 4 KB for each flow, and says what is left out', async () => {
    const long = flow({ name: 'long', description: 'Asks much' }, async (ask) => {
      for (let at = 1; at <= 60; at++) await ask.text(`q${at}` as 'q', { message: 'x'.repeat(60) });
    });
    const { server, url, lines } = await serving([long], { explored: await exploredOf(long) });
    const list = await listed(url);
    await server.close();
    expect(list.length).toBeGreaterThan(3500);
    expect(list.length).toBeLessThanOrEqual(4096 + '[]'.length);
    expect(list).toMatch(/it may ask \d+ more/);
    expect(lines).toContainEqual(expect.objectContaining({ event: 'flow.list-cut', tool: 'long' }));
  });

  it('is what the author declares, with a warning about names that models refuse', async () => {
    const input = { type: 'object', properties: { 'first name': { type: 'string' }, city: { type: 'string' } } };
    const { server, url, lines } = await serving([flow({ name: 'odd', input }, async () => 1)]);
    expect(await listed(url)).toContain('first name');
    await server.close();
    expect(lines).toContainEqual(expect.objectContaining({ event: 'flow.argument-names', names: ['first name'] }));
  });

  it('is what is declared where the explored file is missing, or of another version', async () => {
    const explored = await exploredOf(flow({ name: 'quiz', version: '2' }, quiz.body));
    for (const [option, event] of [
      [explored, 'flow.explored-stale'],
      [join(dir, 'absent.json'), 'flow.explored-missing'],
    ] as const) {
      const { server, url, lines } = await serving([quiz], { explored: option });
      expect(await listed(url)).not.toContain('properties');
      await server.close();
      expect(lines.filter((line) => line.event === event)).toHaveLength(1);
    }
    const bad = join(dir, 'bad.json');
    writeFileSync(bad, '{}');
    await expect(serving([quiz], { explored: bad })).rejects.toMatchObject({ code: 'BAD_OPTION' });
  });
});

describe('parley explore', () => {
  const source = (question: string) => `import { flow } from 'mcp-parley/flow';
export const one = flow({ name: 'one' }, async (ask) => ask.text('city', { message: '${question}' }));
`;

  it('writes what it found next to the file, and checks it', async () => {
    const file = home.write('one.ts', source('Where to?'));
    expect(await home.run(['explore', file])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('one: city'),
    });
    expect(await home.run(['explore', file, '--check'])).toMatchObject({ status: 0, stderr: '' });
    home.write('one.ts', source('Where from?'));
    const stale = await home.run(['explore', file, '--check']);
    expect(stale).toMatchObject({ status: 1, stderr: expect.stringContaining('is not what') });
  });

  it('names the file and the line of what reaches out, and writes nothing', async () => {
    const file = home.write(
      'bad.ts',
      `import { hostname } from 'node:os';\n${source('x')}\nsetInterval(() => hostname(), 1000);\n`,
    );
    const { status, stderr } = await home.run(['explore', file]);
    expect({ status, stderr }).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/setInterval\) at .*bad\.ts:5/),
    });
    expect(existsSync(file.replace('.ts', '.explored.json'))).toBe(false);
  });

  it('says where it stopped in each flow, and why', async () => {
    const file = home.write(
      'stops.mjs',
      `import { flow } from 'mcp-parley/flow';
export const wipe = flow({ name: 'wipe' }, async (ask) => {
  const kind = await ask.choice('kind', ['all', 'old', 'paid', 'given']);
  if (kind === 'all') await ask.confirm('sure');
  if (kind === 'old') await ask.sleep('rest', '1d');
  if (kind === 'given') await ask.person('ops-lead').text('reason');
  const size = await ask.step('measure', () => 3);
  await ask.text('why', { message: \`Because of \${size}?\` });
});
export const broken = flow({ name: 'broken' }, async (ask) => {
  await ask.text('first');
  throw new Error('no such thing');
});
export const short = flow({ name: 'short' }, async (ask) => ask.text('city'));
`,
    );
    const { stdout } = await home.run(['explore', file]);
    expect(
      stdout
        .replaceAll(/\(\S*stops/g, '(stops')
        .split('\n')
        .slice(0, -2),
    ).toEqual([
      'broken: first',
      '  stopped since the body threw: no such thing (stops.mjs:12:9)',
      'short: city',
      'wipe: kind, sure',
      '  stopped at the question sure: consent is never made up (stops.mjs:4:33)',
      '  stopped at rest: it waits, and time does not pass (stops.mjs:5:33)',
      '  stopped after the step measure: its result is looked at, and no step is run (stops.mjs:8:50)',
      '  stopped at the question reason: it is for another person (stops.mjs:6:54)',
    ]);
  });

  it('prints what docs/cli.md shows', async () => {
    const [, shown = 'nothing'] = /```text\n(book_trip:[^`]*)```/.exec(read('docs/cli.md')) ?? [];
    const out = home.write('trip.explored.json', '');
    const { stdout } = await home.run(['explore', join(ROOT, 'examples/flows/trip.mjs'), '--out', out]);
    expect(stdout.replaceAll(`(${ROOT}/`, '(')).toContain(shown);
  });

  it('ends with a file that never ends', async () => {
    const file = home.write('busy.mjs', 'for (;;);\nexport {};\n');
    await expect(exploreFile(file, { timeoutMs: 3000 })).rejects.toThrow('took longer than 3000 ms');
  });
});
