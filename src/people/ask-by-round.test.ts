import { checkQuestions } from '../kernel/containers/open-questions.contract.ts';
import { createLog } from '../kernel/base/log.ts';
import { FakeClock, FakeExchange, settled } from '../kernel/fake-exchange.contract.ts';
import { askOnPage } from './ask-by-round.ts';
import { AskChannels } from './ask-channels.ts';
import type { AnswerTrust } from './trust/answer-trust.ts';

/** Its client opens every page. */
class OpeningExchange extends FakeExchange {
  override async ask(): Promise<{ action: string }> {
    return { action: 'accept' };
  }
}

checkQuestions('on the page', () => {
  const clock = new FakeClock();
  const answerTrust = { trusts: () => true } as unknown as AnswerTrust;
  const page = { isReachable: true, link: async () => 'https://gateway.example/ask' };
  const channels = new AskChannels({
    channels: ['page'],
    page,
    answerTrust,
    clock,
    log: createLog({ level: 'silent' }),
  });
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
