// Checks what happens to the process of a shared server after a cancelled or lost call: it is kept where that is safe, replaced
// where it is not, and the process limit holds. The servers use the official SDK v1, on stdio.
import { expect, test } from 'vitest';
import { until } from '../../../helpers/until.ts';
import { startAsking } from '../asking-gateway.ts';
import type { AskingGateway, Person } from '../asking-gateway.ts';
import { connectAskable } from '../helpers/askable-clients.ts';
import { askingProcesses } from './processes.ts';

/** Cancels a call as soon as its tool is at work. Returns the process that the tool runs in. */
async function cancelled({ director }: AskingGateway, person: Person, tool: string, who: string): Promise<number> {
  const controller = new AbortController();
  const call = person.call(tool, { args: { who }, signal: controller.signal });
  const failed = expect(call).rejects.toThrow(/abort/i);
  const { pid } = await director.reached(`${tool} ${who}`);
  controller.abort();
  await failed;
  return pid;
}

/** The process that runs a report. */
async function pidOf({ director }: AskingGateway, person: Person, who: string): Promise<number> {
  const report = person.call('report', { args: { who } });
  await director.release(`report ${who}`);
  expect((await report).text).toBe(`the report of ${who}`);
  return (await director.reached(`report ${who}`)).pid;
}

test('a cancelled tool that has been answered before without asking keeps its process', async () => {
  await using asking = await startAsking('stdio', { limits: { ownIdleMs: 500 } });
  await using alice = await asking.connect('alice');
  await using bob = await asking.connect('bob');
  const pid = await pidOf(asking, alice, 'first');
  expect(await cancelled(asking, bob, 'report', 'second')).toBe(pid);
  expect(await pidOf(asking, alice, 'third')).toBe(pid);
  expect(await pidOf(asking, bob, 'fourth')).toBe(pid);
  expect(askingProcesses()).toEqual([pid]);
});

test('a cancelled unknown tool costs its process once other calls have ended', async () => {
  await using asking = await startAsking('stdio', { limits: { ownIdleMs: 500 } });
  const { director } = asking;
  await using alice = await asking.connect('alice');
  await using bob = await asking.connect('bob');
  const long = alice.call('report', { args: { who: 'long' } });
  const { pid } = await director.reached('report long');
  expect(await cancelled(asking, bob, 'pay', 'unknown')).toBe(pid);
  expect(askingProcesses()).toContain(pid); // the report is under way
  await director.release('report long');
  expect((await long).text).toBe('the report of long');
  const next = await pidOf(asking, alice, 'next');
  expect(next).not.toBe(pid);
  await until('the other processes to end', () => askingProcesses().length === 1);
  expect(askingProcesses()).not.toContain(pid);
});

test('a cancelled unknown tool costs clients that are asked themselves no process while the server has asked nobody', async () => {
  await using asking = await startAsking('stdio', { limits: { ownIdleMs: 500 } });
  const { director } = asking;
  await using first = await connectAskable('SDK v1', asking.url);
  await using second = await connectAskable('SDK v2, handshake', asking.url);
  const controller = new AbortController();
  const { signal } = controller;
  const failed = expect(first.call('pay', { args: { who: 'unknown' }, signal })).rejects.toThrow(/abort/i);
  const { pid } = await director.reached('pay unknown');
  controller.abort();
  await failed;
  for (const [who, person] of Object.entries({ first, second, again: first })) {
    const report = person.call('report', { args: { who } });
    await director.release(`report ${who}`);
    expect(await report).toBe(`the report of ${who}`);
    if (person === first) expect((await director.reached(`report ${who}`)).pid).toBe(pid);
  }
  expect([first.heard, second.heard]).toEqual([[], []]);
});

test('a killed server fails the calls that wait for answers with a clear message, and no question is asked twice', async () => {
  await using asking = await startAsking('stdio', { limits: { ownIdleMs: 500 } });
  const { director } = asking;
  await using alice = await asking.connect('alice');
  await using bob = await asking.connect('bob');
  const people = [
    [alice, 'alice'],
    [bob, 'bob'],
  ] as const;
  // Nobody is asked by guess: the first question is refused. By the second one, its call may be the only one left that can have asked.
  const first = people.map(([person]) => person.call('pay'));
  for (const [, who] of people) await director.release(`pay ${who}`);
  for (const [index, told] of (await Promise.all(first)).entries()) {
    expect(told.text).toMatch(index === 0 ? /refused: / : /refused: |use the card of bob\?/);
    if (told.handle !== undefined) await bob.answer(told.handle, { pin: '0' });
  }
  director.passes = () => true;
  const asked = await Promise.all(people.map(([person, who]) => person.call('pay', { args: { who: `${who}-2` } })));
  for (const [index, [, who]] of people.entries()) expect(asked[index].text).toContain(`the card of ${who}-2`);
  for (const pid of askingProcesses()) process.kill(pid, 'SIGKILL');
  await until('the servers to be gone', () => askingProcesses().length === 0);
  for (const [index, [person]] of people.entries()) {
    const told = await person.answer(asked[index].handle, { pin: '1' }).catch((error: Error) => error);
    const words = told instanceof Error ? told.message : told.text;
    expect(told instanceof Error || told.isError).toBe(true);
    expect(words).toMatch(/asks|server|question/i);
    expect(words).not.toContain('"pin"');
  }
  const again = await Promise.all(people.map(([person, who]) => person.call('pay', { args: { who: `${who}-3` } })));
  for (const [index, [person, who]] of people.entries()) {
    expect(again[index].text).toContain(`the card of ${who}-3`);
    expect((await person.answer(again[index].handle, { pin: who })).text).toContain(`"pin":"${who}"`);
  }
  const tools = director.heard.filter(({ step }) => step.startsWith('pay ') && !step.endsWith(' answered'));
  expect(tools.map(({ step }) => step).toSorted()).toEqual(
    people.flatMap(([, who]) => [`pay ${who}`, `pay ${who}-2`, `pay ${who}-3`]).toSorted(),
  );
});

test('two hundred quick cancels leave as many processes as before', async () => {
  const maxProcesses = 6;
  await using asking = await startAsking('stdio', { limits: { ownIdleMs: 500, maxProcesses, maxPool: 4 } });
  const { director } = asking;
  await using alice = await asking.connect('alice');
  await using bob = await asking.connect('bob');
  director.passes = (step) => step.startsWith('report');
  expect((await alice.call('report')).text).toBe('the report of alice');
  const before = askingProcesses().length;
  let most = 0;
  for (let round = 0; round < 20; round++) {
    const controller = new AbortController();
    const { signal } = controller;
    const calls = Array.from({ length: 10 }, (_, index) => {
      const tool = ['report', 'pay', 'book'][index % 3];
      const args = { who: `${index % 2 ? 'alice' : 'bob'}-${round}-${index}` };
      return (index % 2 ? alice : bob).call(tool, { args, signal });
    });
    const outcomes = Promise.allSettled(calls);
    const isAtWork = () => director.heard.some(({ step }) => step.includes(`-${round}-`));
    if (round % 4 === 0) await until('a tool at work', isAtWork);
    controller.abort();
    await outcomes;
    most = Math.max(most, askingProcesses().length);
  }
  // A replaced process may finish its work beside each one that is in use.
  expect(most).toBeLessThanOrEqual(2 * maxProcesses);
  director.releaseAll();
  // Processes that start for calls that were cancelled still count for a moment.
  const late = await until('room', () => bob.call('report', { args: { who: 'bob-late' } }).catch(() => undefined));
  expect(late.text).toBe('the report of bob-late');
  await until('the processes to end', () => askingProcesses().length <= before);
});

test('cancels of a stateless client leave no more processes than are allowed', async () => {
  const maxProcesses = 3;
  await using asking = await startAsking('stdio', { limits: { maxProcesses, ownIdleMs: 3_600_000 } });
  const { director } = asking;
  await using person = await connectAskable('SDK v2, 2026-07-28', asking.url);
  for (let round = 0; round < 3 * maxProcesses; round++) {
    const controller = new AbortController();
    const { signal } = controller;
    const failed = expect(person.call('pay', { args: { who: `${round}` }, signal })).rejects.toThrow(/abort/i);
    await director.reached(`pay ${round}`);
    controller.abort();
    await failed;
  }
  // One that has been told to end may still be about to.
  await until('the processes to end', () => askingProcesses().length <= maxProcesses);
});
