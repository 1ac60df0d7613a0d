// `parley run`: a flow of a file, with answers of a file, and by hand on a terminal.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Home } from '../helpers/parley.ts';
import { Terminal } from '../helpers/terminal.ts';
import { until } from '../helpers/until.ts';

const home = new Home();
afterAll(() => home[Symbol.dispose]());

const trip = home.write(
  'trip.ts',
  `import { flow } from 'mcp-parley/flow';
const trip = flow({ name: 'trip', description: 'Book a trip' }, async (ask) => {
  const city = await ask.text('city', { message: 'Where to?', min: 2 });
  ask.progress(1, 2);
  const seat: string = await ask.choice('seat', ['aisle', 'window'], { message: 'Which seat?', alone: true });
  const price = await ask.step('price', async () => city.length * 10);
  return (await ask.confirm('ok', { message: \`Pay \${price}?\` })) ? { city, seat, price } : 'Nothing booked';
});
export default trip;
`,
);
const answers = (values: object) => home.write('answers.json', values);

test('parley run takes all answers from a file and from arguments', async () => {
  const file = answers({ seat: 'window', ok: true });
  const { status, stdout } = await home.run(['run', trip, '--arg', 'city=Oslo', '--answers', file]);
  expect({ status, result: JSON.parse(stdout) }).toEqual({
    status: 0,
    result: { city: 'Oslo', seat: 'window', price: 40 },
  });
});

test('more answers from a file than a client may give in a second, and optional ones left out', async () => {
  const quiz = home.write(
    'quiz.mjs',
    `import { flow } from 'mcp-parley/flow';
export const quiz = flow({ name: 'quiz' }, async (ask) => {
  const given = [];
  for (let at = 0; at < 30; at++) given.push(await ask.number('q', { message: 'Q?', alone: true }));
  const note = await ask.text('note', { message: 'Note?', required: false });
  return { sum: given.reduce((a, b) => a + b), note: note ?? null };
});
`,
  );
  const keys = Array.from({ length: 30 }, (_, at) => (at === 0 ? 'q' : `q#${at + 1}`));
  const file = answers(Object.fromEntries(keys.map((key) => [key, 1])));
  const { status, stdout, stderr } = await home.run(['run', quiz, '--answers', file]);
  expect({ status, stderr, result: stdout && JSON.parse(stdout) }).toEqual({
    status: 0,
    stderr: '',
    result: {
      sum: 30,
      note: null,
    },
  });
});

test('parley run waits for a flow that only sleeps', async () => {
  const patient = home.write(
    'patient.mjs',
    `import { flow } from 'mcp-parley/flow';
export const patient = flow({ name: 'patient' }, async (ask) => {
  await ask.sleep('nap', '50ms');
  let tries = 0;
  const work = () => (++tries < 3 ? Promise.reject(new Error('busy')) : tries);
  return { tries: await ask.step('work', work, { retry: { attempts: 3, pause: '50ms' } }) };
});
`,
  );
  const { status, stdout, stderr } = await home.run(['run', patient, '--answers', answers({}), '--json']);
  expect({ status, stderr, result: stdout && JSON.parse(stdout) }).toEqual({
    status: 0,
    stderr: '',
    result: { tries: 3 },
  });
});

test('without a terminal, questions without a valid answer are named', async () => {
  const missing = await home.run(['run', trip, '--arg', 'city=Oslo']);
  expect(missing).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('seat: Which seat?\nGive') });
  const wrong = await home.run(['run', trip, '--answers', answers({ city: 'X' })]);
  expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining('at least 2') });
});

const hold = home.write(
  'hold.mjs',
  `import { appendFileSync } from 'node:fs';
import { flow } from 'mcp-parley/flow';
export const hold = flow({ name: 'hold' }, async (ask) => {
  const file = await ask.text('file', { message: 'Which file?', alone: true });
  let tries = 0;
  const undo = async () => {
    if (++tries === 1) throw new Error('busy'); // a client that cancels does not wait for the next try
    appendFileSync(file, 'undone');
  };
  await ask.step('hold', async () => appendFileSync(file, 'held '), { effect: 'once', undo });
  const held = 'Keep it? ' + process.pid + '.';
  return (await ask.number('days', { message: held, max: 5, alone: true })) + ' days';
});
`,
);

test.each([
  ['is missing', {}],
  ['does not fit', { days: 9 }],
])('an answer that %s cancels the session, and waits until its effects are undone', async (title, given) => {
  const file = join(home.path, `${title}.txt`);
  const { status, stderr } = await home.run(['run', hold, '--answers', answers({ file, ...given })]);
  expect({ status, stderr, file: readFileSync(file, 'utf8') }).toEqual({
    status: 1,
    stderr: expect.stringContaining('days: '),
    file: 'held undone',
  });
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s at a question cancels the session and undoes its effects',
  async (signal) => {
    const file = join(home.path, `${signal}.txt`);
    await using terminal = terminalOf(['run', hold, '--answers', answers({ file })]);
    await until('the question', () => /Keep it\? \d+\./.test(terminal.all));
    process.kill(Number(/Keep it\? (\d+)\./.exec(terminal.all)![1]), signal);
    await terminal.sees('hold was cancelled');
    expect({ status: await terminal.status(), file: readFileSync(file, 'utf8') }).toEqual({
      status: 1,
      file: 'held undone',
    });
    expect(terminal.all).not.toContain('not answered in time');
  },
);

test('an argument or answer that does not fit is named with the reason and what is allowed, an unknown one with what there is', async () => {
  const wrong = await home.run(['run', trip, '--arg', 'city=Oslo', '--arg', 'seat=sofa']);
  expect(wrong).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('  seat: Not one of the choices. Use aisle, window. Which seat?\n'),
  });
  const inFile = await home.run(['run', trip, '--arg', 'city=Oslo', '--answers', answers({ seat: 'sofa' })]);
  expect(inFile.stderr).toContain('  seat: Not one of the choices. Use aisle, window. Which seat?\n');
  const file = answers({ seat: 'window', ok: true, sea: 'window' });
  const unknown = await home.run(['run', trip, '--arg', 'city=Oslo', '--arg', 'seats=aisle', '--answers', file]);
  expect(unknown).toMatchObject({ status: 0, stdout: expect.stringContaining('"seat": "window"') });
  expect(unknown.stderr).toContain('--arg seats: trip has no question of this name. Did you mean "seat"?');
  expect(unknown.stderr).toContain('--answers: trip did not ask for sea. It asked for seat, ok.');
});

test('a file without a flow, a file with several, and a missing file are errors that say what to do', async () => {
  const none = home.write('none.ts', 'export const a = 1;');
  expect(await home.run(['run', none])).toMatchObject({ status: 1, stderr: expect.stringContaining('no flow') });
  const two = home.write(
    'two.ts',
    `import { flow } from 'mcp-parley/flow';
export const one = flow({ name: 'one' }, async () => 'the first');
export const other = flow({ name: 'other' }, async () => 'the second');`,
  );
  expect(await home.run(['run', two])).toMatchObject({ status: 1, stderr: expect.stringContaining('--flow') });
  expect(await home.run(['run', two, '--flow', 'other'])).toMatchObject({ status: 0, stdout: 'the second\n' });
  const absent = await home.run(['run', 'absent.ts']);
  expect(absent).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('is not there. Check the path.'),
  });
  const lost = home.write('lost.ts', `import './gone.ts';`);
  const { stderr } = await home.run(['run', lost]);
  expect(stderr).toContain('gone.ts');
  expect(stderr).not.toContain('Require stack');
  expect(await home.run(['run'])).toMatchObject({ status: 2 });
});

const ENTER = '\r';
const ESC = '\u001b';
const DOWN = `${ESC}[B`;

test('on a terminal, problems are shown in place, arrow keys choose, and Esc goes back', async () => {
  await using terminal = terminalOf(['run', trip]);
  await terminal.sees('Where to?');
  await terminal.types(`O${ENTER}`, 'at least 2');
  await terminal.types(`slo${ENTER}`, 'Which seat?');
  expect(terminal.shown).toContain('1/2');
  await terminal.types(ESC, 'What now?');
  await terminal.types(ENTER, 'Where to?');
  await terminal.types(`Rome${ENTER}`, 'Which seat?');
  await terminal.types(`${DOWN}${ENTER}`, 'Pay 40?');
  await terminal.types('y', '"city": "Rome"');
  await terminal.sees('"seat": "window"');
  expect(await terminal.status()).toBe(0);
});

test('by hand: a question that is not answered in time is taken away, and the next one asked', async () => {
  const late = home.write(
    'late.mjs',
    `import { flow } from 'mcp-parley/flow';
export const late = flow({ name: 'late' }, async (ask) => {
  const time = { timeout: '1s', onTimeout: 'default', default: 'slack', alone: true };
  const channel = await ask.choice('channel', ['mail', 'slack'], { message: 'Which channel?', ...time });
  return channel + ', ' + (await ask.text('name', { message: 'Who?', alone: true }));
});
`,
  );
  await using terminal = terminalOf(['run', late]);
  await terminal.sees('Which channel?');
  await terminal.sees('not answered in time');
  await terminal.sees('Who?');
  await terminal.types(`Ada${ENTER}`, 'slack, Ada');
  expect(await terminal.status()).toBe(0);
});

test('on a terminal, a flow can be cancelled', async () => {
  await using terminal = terminalOf(['run', trip]);
  await terminal.sees('Where to?');
  await terminal.types(ESC, 'What now?');
  await terminal.types(ESC, 'trip was cancelled');
  expect(await terminal.status()).toBe(1);
});

test('a terminal that does not know its size has 80 columns', async () => {
  await using terminal = terminalOf(['run', trip], { columns: 0, rows: 0 });
  await terminal.sees('Where to?');
  await terminal.types(`Oslo${ENTER}`, 'Which seat?');
  expect(terminal.shown).toContain('window');
});

test('on a terminal, Esc at a yes-or-no question shows that it was not answered', async () => {
  const sure = home.write(
    'sure.mjs',
    `import { flow } from 'mcp-parley/flow';
export const sure = flow({ name: 'sure' }, async (ask) => {
  return (await ask.confirm('ok', { message: 'Delete it?', default: true })) ? 'deleted' : 'kept';
});
`,
  );
  await using terminal = terminalOf(['run', sure]);
  await terminal.sees('Delete it?');
  await terminal.types(ESC, 'What now?');
  expect(terminal.shown).toContain('Not answered');
  expect(terminal.shown).not.toMatch(/Yes|No\b/);
  await terminal.types(ENTER, 'Delete it?'); // go on
  await terminal.types('n', 'kept');
  expect(await terminal.status()).toBe(0);
});

/** The command on a terminal of its own. */
function terminalOf(words: string[], size = {}): Terminal {
  const { command, args = [], env = {} } = home.address(words);
  return new Terminal([command, ...args].map((word) => `'${word}'`).join(' '), env, size);
}
