// Small things that people type, as processes: the help of one tool, arguments that were mistyped, `{}` as the options of a step, and a hash that is too short.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { WEATHER, homesOfTests } from '../helpers/parley.ts';

const { newHome } = homesOfTests();

describe('parley call', () => {
  test('TOOL --help shows what the tool does and takes, and calls nothing', async () => {
    const home = newHome();
    home.write('parley.config.json', { mcpServers: { weather: WEATHER } });
    const { status, stdout } = await home.run(['call', 'get_weather', '--help', '--config', 'parley.config.json']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^get_weather\n/);
    expect(stdout).toMatch(/--arg location=… +string, required/);
    const unknown = await home.run(['call', 'get_wether', '--help', '--config', 'parley.config.json']);
    expect([unknown.status, unknown.stderr.includes('Did you mean "get_weather"?')]).toEqual([1, true]);
    expect((await home.run(['call', '--help'])).stdout).toContain('parley call: call one tool');
  });

  test('says which argument was probably meant when a call fails', async () => {
    const home = newHome();
    home.write('parley.config.json', { mcpServers: { demo: home.address(['demo', '--stdio']) } });
    const words = ['call', 'weather', '--arg', 'citty=Oslo', '--config', 'parley.config.json'];
    const { status, stderr } = await home.run(words);
    expect(status).toBe(1);
    expect(stderr).toContain('The tool names no argument "citty". Did you mean "city"?');
  });
});

test('parley ls tools shows the arguments of each tool, those that may be left out with a question mark', async () => {
  const home = newHome();
  home.write('parley.config.json', { mcpServers: { demo: home.address(['demo', '--stdio']) } });
  const { stdout } = await home.run(['ls', 'tools', '--config', 'parley.config.json']);
  expect(stdout).toMatch(/^TOOL +SERVER +ARGUMENTS +DESCRIPTION\n/);
  expect(stdout).toMatch(/^weather +demo +city\b/m);
});

describe('a step whose file exports a function that makes it', () => {
  const MAKER = `export default function make(options = {}) {
    return { name: 'made', methods: ['tools/list'], handle: async (exchange, next) => {
      const outcome = await next();
      outcome.result = { ...outcome.result, tools: outcome.result.tools.map((tool) => ({ ...tool, description: 'made with ' + Object.keys(options).length })) };
      return outcome;
    } };
  }`;

  test('is made with the options {}, and check --run-steps warns where they are missing', async () => {
    const home = newHome();
    home.write('maker.mjs', MAKER);
    const config = (step: unknown) => ({ mcpServers: { weather: WEATHER }, steps: [step] });
    home.write('parley.config.json', config({ './maker.mjs': {} }));
    const listed = await home.run(['ls', 'tools', '--config', 'parley.config.json']);
    expect(listed.stdout).toContain('made with 0');
    expect((await home.run(['check', '--run-steps'])).stdout).not.toContain('warning');
    home.write('parley.config.json', config('./maker.mjs'));
    const { stdout } = await home.run(['check', '--run-steps']);
    expect(stdout).toContain('it looks like one that makes a step of options');
    expect(stdout).toContain('{ "./maker.mjs": {} }');
  });

  test('is left as it is if the file exports a step, whether it has {} or not', async () => {
    const home = newHome();
    home.write('step.mjs', 'export default async function plain(exchange, next) { return next(); }');
    for (const step of ['./step.mjs', { './step.mjs': {} }]) {
      home.write('parley.config.json', { mcpServers: { weather: WEATHER }, steps: [step] });
      const { status, stdout } = await home.run(['ls', 'tools', '--config', 'parley.config.json']);
      expect([status, stdout.includes('get_weather')]).toEqual([0, true]);
      expect((await home.run(['check', '--run-steps'])).stdout).not.toContain('warning');
    }
  });
});

describe('parley audit verify --head', () => {
  test.each(['abc', 'x'.repeat(44), `${'a'.repeat(42)} `])(
    'says that "%s" is not a head, and nothing of tampering',
    async (head) => {
      const home = newHome();
      const { status, stdout, stderr } = await home.run(['audit', 'verify', '--head', head]);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toContain('is not a head');
    },
  );

  test('says that a head which is in no file was removed', async () => {
    const home = newHome();
    writeFileSync(join(home.path, 'parley.config.json'), JSON.stringify({ mcpServers: { weather: WEATHER } }));
    const { status, stderr } = await home.run(['audit', 'verify', '--head', 'a'.repeat(43)]);
    expect([status, stderr.includes('lines were removed or replaced')]).toEqual([1, true]);
  });
});
