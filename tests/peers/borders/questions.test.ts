// A question reaches only the client whose call asked. The server uses the official SDK v1 and asks without naming the call, on
// stdio and on the GET stream of Streamable HTTP; the clients use SDK v1 and share its connection.
import { describe, expect, test } from 'vitest';
import { within } from '../../helpers/until.ts';
import { startAsking } from './asking-gateway.ts';
import type { Told } from './asking-gateway.ts';

const identify = (request: { headers: Record<string, unknown> }): string => String(request.headers['x-user']);
const NEVER = 'use the card of bob';

const WAYS = [
  { transport: 'stdio', with: 'no names', options: {} },
  { transport: 'http', with: 'no names', options: {} },
  { transport: 'stdio', with: '`identify`', options: { identify } },
] as const;

/** A call whose client gives it up. */
function given(up: (signal: AbortSignal) => Promise<Told>) {
  const controller = new AbortController();
  const outcome = up(controller.signal).then(
    (told) => told.text,
    () => 'given up',
  );
  return { outcome, giveUp: () => controller.abort() };
}

describe.each(WAYS)('a server on $transport, clients with $with', ({ transport, options }) => {
  test('a question is refused when another call is under way, and stays with nobody when its client gives up', async () => {
    await using asking = await startAsking(transport, options);
    const { director } = asking;
    await using alice = await asking.connect('alice');
    await using bob = await asking.connect('bob');
    const report = alice.call('report');
    await director.reached('report alice');
    const pay = given((signal) => bob.call('pay', { signal }));
    await director.release('pay bob');
    // Refused at once, in words that say what to do.
    const { about } = await director.reached('pay bob answered');
    expect(about).toMatch(/^refused: .*call the tool again/i);
    pay.giveUp();
    await pay.outcome;
    await director.release('report alice');
    expect((await report).text).toBe('the report of alice');
  });

  test('a tool that asks after its client has given up is refused, even while another client has a call in flight', async () => {
    await using asking = await startAsking(transport, options);
    const { director } = asking;
    await using alice = await asking.connect('alice');
    await using bob = await asking.connect('bob');
    const pay = given((signal) => bob.call('pay', { signal }));
    await director.reached('pay bob');
    const report = alice.call('report');
    await director.reached('report alice');
    pay.giveUp();
    expect(await pay.outcome).toBe('given up');
    await director.release('pay bob');
    expect((await director.reached('pay bob answered')).about).toMatch(/^refused: /);
    await director.release('report alice');
    expect((await report).text).toBe('the report of alice');
  });

  test('a tool that asks after its client has gone away is refused, also when nobody else calls', async () => {
    await using asking = await startAsking(transport, options);
    const { director } = asking;
    await using alice = await asking.connect('alice');
    const bob = await asking.connect('bob');
    const pay = given(() => bob.call('pay'));
    await director.reached('pay bob');
    await (bob.client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
    await bob.client.close();
    await pay.outcome;
    await director.release('pay bob');
    expect((await director.reached('pay bob answered')).about).toMatch(/^refused: /);
    // What Alice calls next runs elsewhere, and her question is hers.
    director.passes = () => true;
    const asked = await alice.call('pay');
    expect(asked.text).toContain('use the card of alice');
    expect(asked.text).not.toContain(NEVER);
    expect((await alice.answer(asked.handle, { pin: '1' })).text).toContain('"pin":"1"');
  });

  test('the tools that may have asked get connections of their own, and each client its own question', async () => {
    await using asking = await startAsking(transport, options);
    const { director } = asking;
    await using alice = await asking.connect('alice');
    await using bob = await asking.connect('bob');
    const first = [alice.call('pay'), bob.call('pay')];
    await director.release('pay alice');
    await director.release('pay bob');
    for (const told of await Promise.all(first)) expect(told.text).toContain('refused: ');
    director.passes = () => true;
    const asked = await Promise.all([alice.call('pay'), bob.call('pay')]);
    expect(asked[0].text).toContain('use the card of alice');
    expect(asked[1].text).toContain('use the card of bob');
    const answers = await Promise.all([
      alice.answer(asked[0].handle, { pin: 'A' }),
      bob.answer(asked[1].handle, { pin: 'B' }),
    ]);
    expect(answers[0].text).toContain('"pin":"A"');
    expect(answers[1].text).toContain('"pin":"B"');
  });

  test('while a question of one client is open, another client is asked its own, and refused at once what it cannot be asked', async () => {
    await using asking = await startAsking(transport, options);
    const { director } = asking;
    director.passes = () => true;
    await using alice = await asking.connect('alice');
    await using bob = await asking.connect('bob');
    const held = await alice.call('pay');
    expect(held.text).toContain('use the card of alice');
    const roots = await within('the roots to be refused', bob.call('roots'));
    expect(roots.text).toMatch(/^refused: /);
    const asked = await within('the question of bob', bob.call('book'));
    expect(asked.text).toContain('book: use the card of bob');
    expect((await within('a report', bob.call('report'))).text).toBe('the report of bob');
    expect((await bob.answer(asked.handle, { pin: 'B' })).text).toContain('"pin":"B"');
    expect((await alice.answer(held.handle, { pin: 'A' })).text).toContain('"pin":"A"');
  });
});

test('a call that times out in the gateway keeps its question from everybody else', async () => {
  await using asking = await startAsking('stdio', { settings: { timeoutMs: 6000 } });
  const { director } = asking;
  await using alice = await asking.connect('alice');
  await using bob = await asking.connect('bob');
  const pay = bob.call('pay');
  await expect(pay).rejects.toThrow('did not answer');
  await director.release('pay bob');
  expect((await director.reached('pay bob answered')).about).toMatch(/^refused: /);
  director.passes = () => true;
  expect((await alice.call('report')).text).toBe('the report of alice');
});
