// `parley run` of flows that wait for others: the person at the terminal, or the file with answers, stands for everybody.
import { afterAll, expect, test } from 'vitest';
import { Home } from '../helpers/parley.ts';
import { Terminal } from '../helpers/terminal.ts';
import { until } from '../helpers/until.ts';

const home = new Home();
afterAll(() => home[Symbol.dispose]());

const release = home.write(
  'release.mjs',
  `import { flow } from 'mcp-parley/flow';
const Deployed = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
export const release = flow({ name: 'release' }, async (ask) => {
  const version = await ask.text('version', { message: 'Which version?' });
  if (!(await ask.person('ops-lead').confirm('approve', { message: 'Release ' + version + '?' }))) return 'Not released';
  const deployed = ask.event('deployed', Deployed);
  const at = await ask.step('deploy', async (step) => {
    for (let page = 1; page <= 2; page++) step.progress(page, 2, 'Page ' + page);
    return new URL(await step.url(deployed)).pathname;
  });
  return { version, at, deployed: await deployed };
});
`,
);
const answers = (values: object) => home.write('answers.json', values);
const ENTER = '\r';

test('answers for other people and events come from the file, and the progress of steps is shown', async () => {
  const file = answers({ version: '2.0', approve: true, deployed: { ok: true } });
  const { status, stdout, stderr } = await home.run(['run', release, '--answers', file]);
  expect({ status, stderr, result: stdout && JSON.parse(stdout) }).toEqual({
    status: 0,
    stderr: '   50 %  Page 1\n  100 %  Page 2\n',
    result: { version: '2.0', at: '/event', deployed: { ok: true } },
  });
});

test('where nobody can type, the person or event that has no answer is named', async () => {
  const person = await home.run(['run', release, '--answers', answers({ version: '2.0' })]);
  expect(person).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('approve: for ops-lead: Release 2.0?\nG'),
  });
  const event = await home.run(['run', release, '--answers', answers({ version: '2.0', approve: true })]);
  expect(event).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('  deployed: The flow waits for the event deployed'),
  });
  const file = answers({ version: '2.0', approve: true, deployed: { ok: 'perhaps' } });
  const wrong = await home.run(['run', release, '--answers', file]);
  expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining('the event deployed: ') });
});

test('where nobody can type, a race with the time is waited for', async () => {
  const race = home.write(
    'race.mjs',
    `import { flow } from 'mcp-parley/flow';
export const race = flow({ name: 'race' }, async (ask) => {
  const approved = ask.person('ops-lead').confirm('approve', { message: 'Release it?' });
  return (await Promise.race([approved, ask.sleep('patience', '50ms')])) === true ? 'Released' : 'Nobody came';
});
`,
  );
  const { status, stdout, stderr } = await home.run(['run', race]);
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'Nobody came\n' });
  expect(stderr).toContain('Waits for ops-lead (approve)');
});

test('on a terminal, the question says for whom it is, and an event is typed as JSON', async () => {
  await using terminal = terminalOf(['run', release]);
  await terminal.sees('Which version?');
  await terminal.types(`2.0${ENTER}`, 'for ops-lead: Release 2.0?');
  await terminal.types('y', 'The flow waits for the event deployed');
  await terminal.types(`{"ok": 3}${ENTER}`, 'the event deployed: ');
  await until('the question after that', () => /event deployed: [^]*The flow waits/.test(terminal.shown));
  await terminal.types(`{"ok": true}${ENTER}`, '"ok": true');
  await terminal.sees('"version": "2.0"');
  expect(await terminal.status()).toBe(0);
});

/** The command on a terminal of its own. */
function terminalOf(words: string[]): Terminal {
  const { command, args = [], env = {} } = home.address(words);
  return new Terminal([command, ...args].map((word) => `'${word}'`).join(' '), env);
}
