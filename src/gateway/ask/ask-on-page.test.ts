import { checkQuestions } from '../../shared/containers/open-questions.contract.ts';
import { createLog } from '../../shared/log.ts';
import { FakeClock, FakeExchange, settled } from '../middleware/fake-exchange.contract.ts';
import { createAskChannels } from './ask-channels.ts';
import { askOnPage } from './ask-on-page.ts';
import type { PersonsWord } from './word/persons-word.ts';

/** Its client opens every page. */
class OpeningExchange extends FakeExchange {
  override async ask(): Promise<{ action: string }> {
    return { action: 'accept' };
  }
}

checkQuestions('on the page', () => {
  const clock = new FakeClock();
  const word = { trusts: () => true } as unknown as PersonsWord;
  const page = { isReachable: true, link: async () => 'https://gateway.example/ask' };
  const channels = createAskChannels({ channels: ['page'], page, word, clock, log: createLog({ level: 'silent' }) });
  const exchange = new OpeningExchange('tools/call', { name: 't' });
  return {
    ask: (ask, signal) => askOnPage(ask, exchange, channels, signal),
    async shown() {
      await settled();
      return [...channels.rounds.all]
        .filter(({ isOpen }) => isOpen)
        .map(({ handle, questions }) => ({ key: handle, message: String(questions[0]?.ask.params?.message) }));
    },
    answer: (handle, action) => channels.rounds.get(handle)?.answer({ q1: { action } }, 'page'),
    end: () => exchange.controller.abort(),
  };
});
