import { checkQuestions } from '../../kernel/containers/open-questions.contract.ts';
import { FakeClock } from '../eras/fake-context.contract.ts';
import { Task } from './task.ts';

checkQuestions('of a task', () => {
  const task = new Task({ principal: 'ada', ttlMs: 1000, clock: new FakeClock(), tell: () => {} });
  return {
    ask: (ask, signal) => task.ask(ask, signal),
    shown: async () =>
      Object.entries(task.state.inputRequests ?? {}).map(([key, { params }]) => ({
        key,
        message: String(params?.message),
      })),
    answer: (key, action) => task.answer(key, { action }),
    end: () => task.cancel(),
  };
});
