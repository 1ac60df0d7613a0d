import { checkQuestions } from '../kernel/containers/open-questions.contract.ts';
import type { Exchange } from '../kernel/exchange.ts';
import { createLog } from '../kernel/base/log.ts';
import { FakeClock, FakeExchange, settled } from '../kernel/fake-exchange.contract.ts';
import { AskChannels } from './ask-channels.ts';
import { AskableCall } from './askable-call.ts';
import type { RoundAnswer } from './question-round.ts';
import type { AnswerTrust } from './trust/answer-trust.ts';

/** Its client cannot be asked. */
class MuteExchange extends FakeExchange {
  override canAsk(): boolean {
    return false;
  }
}

checkQuestions('of a call that is held', () => {
  const clock = new FakeClock();
  const answerTrust = { trusts: () => true, isStrict: false, tell: () => {} } as unknown as AnswerTrust;
  const channels = new AskChannels({ channels: ['relay'], answerTrust, clock, log: createLog({ level: 'silent' }) });
  const inner = new MuteExchange('tools/call', { name: 't' });
  let exchange!: Exchange;
  const never = (asking: Exchange): Promise<never> => {
    exchange = asking;
    return new Promise(() => {});
  };
  void new AskableCall(inner, channels).run({ handle: never });
  const given: Record<string, RoundAnswer> = Object.create(null) as Record<string, RoundAnswer>;
  const rounds = () => [...channels.rounds.all].filter(({ isOpen }) => isOpen);
  return {
    ask: (ask, signal) => exchange.ask(ask, signal),
    async shown() {
      await settled();
      await clock.advance(40);
      return rounds().flatMap(({ questions }) =>
        questions
          .filter(({ key }) => !(key in given))
          .map(({ key, ask }) => ({ key, message: String(ask.params?.message) })),
      );
    },
    /** A round is answered as a whole. */
    answer(key, action) {
      const round = rounds().find(({ questions }) => questions.some((one) => one.key === key));
      if (!round) return;
      given[key] = { action };
      if (round.questions.every((one) => one.key in given)) void round.answer({ ...given }, 'relay');
    },
    end: () => channels.rounds.leave(inner.client),
  };
});
