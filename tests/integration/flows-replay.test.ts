// `parley flows replay`: open sessions of a running server against new code, of which nothing is done and nothing is written.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DESK_FLOWS, Desk, deskPlaces } from '../helpers/flow-desk.ts';

const PLACES = deskPlaces();

describe.each(Object.keys(PLACES))('sessions in %s', (place) => {
  test('are said to go on, to be asked something else, or to be parked', async () => {
    await using desk = new Desk(PLACES[place]!());
    const server = await desk.serve();
    await desk.call(server, 'order', ['Bread', true]);
    await desk.call(server, 'order', []);
    const journals = async () => (await desk.flows(['ls', '--json'])).stdout;
    const before = [await journals(), desk.ledger];
    const against = (version: string, ...more: string[]) =>
      desk.flows(['replay', '--against', DESK_FLOWS, ...more], { DESK_VERSION: version });

    const same = await against('1');
    expect(same).toMatchObject({ status: 0, stderr: '2 sessions: 2 ok\n' });
    expect(same.stdout).toMatch(/^\S+ {2}ok {7}order asks (note|item)$/m);
    const renamed = await against('2');
    expect(renamed).toMatchObject({ status: 1, stderr: expect.stringMatching(/^2 sessions: 1 \w+, 1 \w+\n$/) });
    expect(renamed.stdout).toMatch(/parks {4}order the effect charge has begun, .* charge-card would be done instead/);
    const asking = await against('3', '--json');
    const verdicts = (JSON.parse(asking.stdout) as { verdict: string; words: string }[]).map(
      ({ verdict, words }) => `${verdict}: ${words}`,
    );
    expect({ status: asking.status, verdicts: new Set(verdicts) }).toEqual({
      status: 0,
      verdicts: new Set(['ok: asks item', 'changes: asks colour before note']),
    });
    expect([await journals(), desk.ledger]).toEqual(before);
  });
});

test('the code runs where it can reach nothing, and what reaches out is named', async () => {
  await using desk = new Desk();
  await desk.call(await desk.serve(), 'order', ['Bread']);
  const file = (name: string, body: string, top = '') =>
    desk.home.write(
      name,
      `import { appendFileSync } from 'node:fs';
import { flow } from 'mcp-parley/flow';
${top}
export const order = flow({ name: 'order' }, async (ask) => {
  await ask.text('item');
  ${body}
  await ask.step('reserve', () => appendFileSync(process.env.LEDGER, 'again'), { effect: 'retry' });
  return ask.confirm('ok', { message: 'Pay?' });
});
`,
    );
  const act = "appendFileSync(process.env.LEDGER, 'oops');";
  const inBody = await desk.flows(['replay', '--against', file('body.mjs', act)]);
  expect(inBody).toMatchObject({ status: 1, stderr: expect.stringMatching(/fs\.appendFileSync\) at .*body\.mjs:6/) });
  const onTop = await desk.flows(['replay', '--against', file('top.mjs', '', act)]);
  expect(onTop).toMatchObject({ status: 1, stderr: expect.stringMatching(/fs\.appendFileSync\) at .*top\.mjs:3/) });
  const endless = await desk.flows(['replay', '--against', file('waits.mjs', 'await new Promise(() => {});')]);
  expect(endless).toMatchObject({ status: 1, stdout: expect.stringContaining('fails    order waits for something') });
  const good = await desk.flows(['replay', '--against', file('good.mjs', '')]);
  expect(good).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('changes  order asks ok in other words: Pay?'),
  });
  const other = desk.home.write('other.mjs', readFileSync(DESK_FLOWS, 'utf8').replace("name: 'order'", "name: 'buy'"));
  const missing = await desk.flows(['replay', '--against', other]);
  expect(missing).toMatchObject({ status: 1, stdout: expect.stringContaining('missing  order is not in') });
  expect(await desk.flows(['replay', '--against', other, '--flow', 'buy'])).toMatchObject({
    status: 0,
    stderr: 'No session is open.\n',
  });
  expect(desk.ledger).toEqual(['reserve Bread']);
});

test('arguments that are sealed are opened only by their key', async () => {
  await using desk = new Desk(undefined, { SEAL_KEY: 'the key of the server' });
  const { socketWire } = await import('../helpers/line-wire.ts');
  const serving = await desk.serve();
  const { wire, socket } = await socketWire(serving.port, { 'x-user': 'ada' });
  await wire.initialize();
  await wire.request('interaction.start', { toolName: 'login', initialParams: { more: 'hunter2' } });
  const shown = await desk.flows(['show', (await desk.ids())[0]!]);
  expect(shown.stdout).toContain('start        more arguments, sealed until they are asked for');
  const sealed = await desk.flows(['replay', '--against', DESK_FLOWS]);
  expect(sealed).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('sealed   login has arguments that only its key'),
  });
  const wrong = await desk.flows(['replay', '--against', DESK_FLOWS, '--seal-key', 'LEDGER']);
  expect(wrong.stdout).toContain('sealed   login');
  const opened = await desk.flows(['replay', '--against', DESK_FLOWS, '--seal-key', 'SEAL_KEY']);
  expect(opened).toMatchObject({ status: 0, stdout: expect.stringContaining('ok       login asks name') });
  socket.terminate();
});
