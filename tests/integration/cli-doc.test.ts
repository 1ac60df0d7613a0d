// What docs/cli.md shows is what the commands print: blocks marked `<!-- shell: parley … -->`. `UPDATE_DOCS=1 npx vitest run
// --project integration cli-doc` renews them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT, read } from '../helpers/files.ts';
import { COMMANDS } from '../../src/cli/args/commands.ts';
import { writeDocAudit } from '../helpers/doc-audit.ts';
import { writeDocStore } from '../helpers/doc-store.ts';
import { Home } from '../helpers/parley.ts';
import type { Parley } from '../helpers/parley.ts';

const PAGE = 'docs/cli.md';
const FOOT = `

Exit status: 0 done, 1 something failed, 2 the command line was not understood.
Results go to stdout, everything else to stderr. NO_COLOR=1 turns colours off.
`;
/** What several commands share is shown once, with these. */
const COMMON = ['parley ls --help', 'parley serve --help'];
const BLOCK = /<!-- shell: (.+?) -->\n```text\n([\s\S]*?)```/g;
const blocks = [...read(PAGE).matchAll(BLOCK)].map(([, line, text]) => ({ line: line!, text: text! }));

const aggregate = new Home(join(ROOT, 'examples', 'aggregate'));
const demo = new Home();
const broken = new Home();
const keeping = new Home();
const recorded = new Home();
let gateways: Parley[] = [];

/** Where a command is run, and what is typed, when it is not the gateway of the example. */
const ELSEWHERE: Record<string, { home: Home; input?: string }> = {
  'parley check broken.jsonc': { home: broken },
  'parley flows ls --store sqlite:flows.db': { home: keeping },
  'parley flows show 8xkqLm2p --store sqlite:flows.db': { home: keeping },
  'parley flows replay --against pay.mjs --store sqlite:flows.db': { home: keeping },
  'parley call book_table --arg people=2': { home: demo, input: 'Ada\n2\n' },
  'parley logs': { home: recorded },
  'parley audit verify': { home: recorded },
  'parley read demo://about': { home: demo },
  'parley prompt plan_evening --arg city=Oslo': { home: demo },
};

beforeAll(async () => {
  broken.write(
    'broken.jsonc',
    '{\n  "mcpServers": {\n    "files": { "comand": "npx" },\n    "web": { "url": "example.com" }\n  }\n}\n',
  );
  await writeDocStore(keeping);
  writeDocAudit(recorded);
  gateways = [aggregate.start(['serve', '--port', '0']), demo.start(['demo', '--port', '0'])];
  for (const gateway of gateways) await gateway.url();
  await aggregate.run(['ls']); // its servers start when somebody asks
});

afterAll(async () => {
  for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
  for (const home of [aggregate, demo, broken, keeping, recorded]) home[Symbol.dispose]();
});

it('shows every command', () => {
  const shown = blocks.map(({ line }) => line).join('\n');
  for (const { name } of COMMANDS) expect(shown).toContain(`parley ${name} --help`);
});

it('lists every command in its first table', () => {
  const [, table = ''] = /\| command \| for \|\n([\s\S]*?)\n\n/.exec(read(PAGE)) ?? [];
  const listed = [...table.matchAll(/`(?:parley )?(\w+)`/g)].map(([, name]) => name!);
  expect(listed.sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
});

it.each(blocks)('$line', async ({ line, text }) => {
  const { home, input = '' } = ELSEWHERE[line] ?? { home: aggregate };
  const { stdout, stderr } = await home.run(line.split(' ').slice(1), input);
  const output = `${stderr}${stdout}`;
  const wanted = output.includes('\nUsage\n')
    ? settled(withoutCommon(line, withoutFoot(withoutHead(line, output))))
    : `$ ${line}\n${settled(output)}`;
  if (process.env['UPDATE_DOCS'] === '1') renew(line, wanted);
  else expect(text).toBe(wanted);
});

/** The first line of a help has the name of the command, which the page has above it. */
function withoutHead(line: string, output: string): string {
  const [head = '', ...rest] = output.split('\nUsage\n');
  expect(head).toContain(`${line.replace(' --help', '')}: `);
  return `Usage\n${rest.join('\nUsage\n')}`;
}

/** Every help has the same last lines, and `--help` among its options: the page says so once. */
function withoutFoot(output: string): string {
  expect(output.slice(-FOOT.length)).toBe(FOOT);
  return `${output.slice(0, -FOOT.length)}\n`.replace(/\n {2}-h, --help +this help(?=\n)/, '');
}

/** Options and sentences that an earlier one of the `COMMON` helps has in the same words. */
function withoutCommon(line: string, output: string): string {
  const earlier = COMMON.slice(0, COMMON.includes(line) ? COMMON.indexOf(line) : COMMON.length);
  const shown = blocks.filter((block) => earlier.includes(block.line)).flatMap(({ text }) => text.split('\n'));
  const common = shown
    .filter((one) => /^(?: {2}-|Connects to |servers of the configuration)/.test(one))
    .map(inOneWidth);
  expect(common.length).toBeGreaterThanOrEqual(earlier.length * 7);
  return output
    .split('\n')
    .filter((one) => !common.includes(inOneWidth(one)))
    .join('\n')
    .replace(/\nOptions\n\n/, '\n')
    .replaceAll('\n\n\n', '\n\n');
}

/** Each help has columns of its own. */
function inOneWidth(line: string): string {
  return line.replaceAll(/ +/g, ' ');
}

/** What is different in every run. */
function settled(output: string): string {
  return output
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:8470')
    .replaceAll(/process \d+, up \d+ \w+/g, 'process 4711, up 12 min')
    .replaceAll(/\d{4}-\d\d-\d\d(?= \d\d:|\n)/g, '2026-11-16') // days, not revisions
    .replaceAll(/\d\d:\d\d:\d\d/g, '09:31:02')
    .replaceAll(/(version|owner|idempotency key)( +)(?=\S*[\w-]{11})\S+(?=,|\n)/g, '$1$2…')
    .replaceAll(/head: \S+/g, 'head: 4BRFjdN2wX7sZJmVqk1uY0oPzLrT9cHeG3iAxSbKtfM')
    .replaceAll(/, in \d+\w/g, ', in 23h')
    .replaceAll(/\b1\dm\b/g, '12m')
    .replaceAll(ROOT, '/path/to/parley');
}

function renew(line: string, wanted: string): void {
  const renewed = read(PAGE).replaceAll(BLOCK, (block: string, found: string) =>
    found === line ? `<!-- shell: ${line} -->\n\`\`\`text\n${wanted}\`\`\`` : block,
  );
  writeFileSync(join(ROOT, PAGE), renewed);
}
