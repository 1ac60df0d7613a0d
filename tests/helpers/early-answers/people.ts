// The page, the words of a model, and the command line.
import { FakeBrowser, csrfOf } from '../../../src/people/page/fake-round.contract.ts';
import type { Answer, Json } from '../http-wire.ts';
import { Terminal } from '../terminal.ts';
import { contentOf, handleOf, newMark, otherKind } from './cell.ts';
import type { Channel, Tool } from './cell.ts';
import { FORMS, expired } from './forms.ts';
import { guard } from './guard.ts';

/** A call of a client whose forms nobody trusts, so that a person is asked. */
async function held(tool: Tool) {
  const [wire, mark] = [await guard.http('bob', FORMS), newMark()];
  const [link, told] = await guard.link(() => wire.call(tool, { mark }));
  const handle = handleOf(told);
  const words = (given: Json, by = wire): Promise<Answer> =>
    by.request('tools/call', { name: 'parley_answer', arguments: { handle, ...given } });
  return { wire, mark, link, told, handle, words };
}

const YES = { 'q0.0': 'true' };
const csrfAt = async (browser: FakeBrowser, link: string): Promise<string> => csrfOf((await browser.open(link)).text);

export const page: Channel = {
  tools: ['wipe', 'ship'],
  async honest(tool) {
    const { mark, link, words } = await held(tool);
    await (await guard.browser('bob')).fill(link, YES);
    return [mark, await words({})];
  },
  attacks: {
    async before(tool) {
      const browser = await guard.browser('bob');
      const earlier = await held(tool);
      const csrf = await csrfAt(browser, earlier.link);
      const at = earlier.link.replace(/\?.*/, '');
      const told = [await browser.post(at, { csrf, ...YES }), await browser.post(`${at}?t=AAAA`, { csrf, ...YES })];
      const { mark, link } = await held(tool);
      told.push(await browser.post(link, YES)); // the form was not shown yet
      return { never: [earlier.mark, mark], told: told.map(({ text }) => text) };
    },
    async twice(tool) {
      const [first, second] = [await held(tool), await held(tool)];
      const browser = await guard.browser('bob');
      const form = { csrf: await csrfAt(browser, first.link), ...YES };
      await browser.post(first.link, form);
      await first.words({});
      return { once: [first.mark], never: [second.mark], told: [(await browser.post(first.link, form)).text] };
    },
    async other(tool) {
      const { mark, link } = await held(tool);
      return { never: [mark], told: [(await (await guard.browser('ann')).fill(link, YES)).text] };
    },
    async unproven(tool) {
      const { mark, link } = await held(tool);
      return { never: [mark], told: [(await new FakeBrowser().fill(link, YES)).text] };
    },
    async late() {
      const { mark, link } = await held('burn');
      const browser = await guard.browser('bob');
      const csrf = await csrfAt(browser, link);
      await expired();
      return { never: [mark], told: [(await browser.post(link, { csrf, ...YES })).text] };
    },
    async swapped(tool) {
      const [first, second] = [await held(tool), await held(tool)];
      const browser = await guard.browser('bob');
      const csrf = await csrfAt(browser, first.link);
      await browser.open(second.link);
      const { text } = await browser.post(second.link, { csrf, ...YES });
      return { never: [first.mark, second.mark], told: [text] };
    },
  },
};

export const words: Channel = {
  tools: ['wipe', 'ship'],
  attacks: {
    async before(tool) {
      const { wire, words: say } = await held(tool);
      const early = await say({ handle: 'ask_AAAAAAAAAAAAAAAAAAAAAA', answer: contentOf(tool, true) });
      const mark = newMark();
      await wire.call(tool, { mark });
      return { never: [mark], told: [early] };
    },
    async twice(tool) {
      const { mark, words: say } = await held(tool);
      const answers = [contentOf(tool, true), contentOf(tool, true), true, 'yes'];
      const told: Answer[] = [];
      for (const one of answers) told.push(await say({ answer: one }));
      return { never: [mark], told };
    },
    async other(tool) {
      const { mark, words: say } = await held(tool);
      const ann = await guard.http('ann', {});
      await ann.call('wipe', { mark: newMark() }); // so that Ann has the tool, too
      return { never: [mark], told: [await say({ answer: contentOf(tool, true) }, ann)] };
    },
    async unproven(tool) {
      const { mark, words: say } = await held(tool);
      return { never: [mark], told: [await say({ answer: contentOf(tool, true) })] };
    },
    async late() {
      const { mark, words: say } = await held('burn');
      await expired();
      return { never: [mark], told: [await say({ answer: contentOf('burn', true) })] };
    },
    async swapped(tool) {
      const { mark, words: say } = await held(tool);
      return { never: [mark], told: [await say({ answer: contentOf(otherKind(tool), true) })] };
    },
  },
};

const callOf = (tool: Tool, mark: string): string[] => ['call', tool, '--arg', `mark=${mark}`];

export const command: Channel = {
  tools: ['wipe', 'ship'],
  async honest(tool) {
    const mark = newMark();
    const { command: node, args = [], env = {} } = guard.home.address(callOf(tool, mark));
    await using terminal = new Terminal([node, ...args].map((word) => `'${word}'`).join(' '), env);
    await terminal.sees('y/n');
    await terminal.types('y\r', 'y');
    await terminal.status();
    return [mark, terminal.shown];
  },
  attacks: {
    async before(tool) {
      const [one, two] = [newMark(), newMark()];
      const piped = await guard.home.run(callOf(tool, one), 'y\ny\n');
      const said = await guard.home.run([...callOf(tool, two), '--yes'], 'y\n');
      return { never: [one, two], told: [piped.stderr, said.stderr] };
    },
  },
};
