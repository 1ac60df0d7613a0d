import { expect, it, vi } from 'vitest';
import { CLIENT_GONE, CancelledByPeer } from '../base/cancellation.ts';
import { cancelledError, outcomeOf } from '../base/cancelled-error.ts';
import { OpenQuestions } from './open-questions.ts';
import { checkQuestions } from './open-questions.contract.ts';
import type { ShownQuestion } from './open-questions.contract.ts';

checkQuestions('by key', () => {
  const call = new AbortController();
  const questions = new OpenQuestions<ShownQuestion>();
  return {
    ask({ key: wanted, params }, signal) {
      const key = questions.toKey(wanted, 'q');
      return questions.open(key, { key, message: String(params?.message) }, { asker: signal, call: call.signal });
    },
    shown: async () => Array.from(questions.entries(), ([, question]) => question),
    answer: (key, action) => questions.answer(key, { action }),
    end: () => call.abort(),
  };
});

it('a key that was made is not made again after its answer, unlike one that its asker wants', async () => {
  const questions = new OpenQuestions<string>();
  const first = questions.open(questions.toKey(undefined, 'ask-'), 'first');
  expect(questions.answer('ask-1', {})).toBe('first');
  await first;
  expect([questions.toKey(undefined, 'ask-'), questions.toKey('mine', 'ask-')]).toEqual(['ask-2', 'mine']);
});

it('only questions that are taken back are reported, when they are no longer open', async () => {
  const controller = new AbortController();
  const onWithdrawn = vi.fn((question: string) => expect(questions.get(question)).toBeUndefined());
  const questions: OpenQuestions<string> = new OpenQuestions<string>({ onWithdrawn });
  const asked = ['answered', 'refused', 'aborted', 'withdrawn', 'left'].map((key) =>
    questions.open(key, key, { asker: controller.signal }).catch((error: Error) => error.message),
  );
  questions.answer('answered', {});
  questions.refuse('refused', new Error('no'));
  questions.withdraw('withdrawn');
  questions.withdraw('withdrawn');
  expect(questions.refuseAll(new Error('over'))).toEqual(['aborted', 'left']);
  controller.abort();
  expect(onWithdrawn.mock.calls).toEqual([['withdrawn']]);
  expect(await Promise.all(asked)).toMatchObject([{}, 'no', 'over', 'Request cancelled', 'over']);
});

it('says in which of four ways a question ended without an answer', async () => {
  const [call, gone, asker] = [new AbortController(), new AbortController(), new AbortController()];
  const questions = new OpenQuestions<string>();
  const outcomes = [
    questions.open('cancelled', '', { call: call.signal }),
    questions.open('gone', '', { call: gone.signal }),
    questions.open('withdrawn', '', { call: call.signal, asker: asker.signal }),
    questions.open('answered', '', { call: call.signal }),
  ].map((answer) => answer.catch(outcomeOf));
  questions.withdraw('answered', cancelledError('answered'));
  asker.abort(new CancelledByPeer({ reason: 'the server no longer asks' }));
  gone.abort(CLIENT_GONE);
  call.abort(new CancelledByPeer({ reason: 'the user stopped it' }));
  expect(await Promise.all(outcomes)).toEqual(['cancelled', 'gone', 'withdrawn', 'answered']);
  const late = questions.open('late', '', { call: gone.signal }).catch(outcomeOf);
  expect(await late).toBe('gone');
});

it('the oldest of too many questions is refused, and not reported as taken back', async () => {
  const onWithdrawn = vi.fn();
  const questions = new OpenQuestions<string>({ onWithdrawn, max: 2 });
  const asked = ['a', 'b', 'c'].map((key) => questions.open(key, key).catch((error: Error) => error.message));
  expect(Array.from(questions.entries(), ([key]) => key)).toEqual(['b', 'c']);
  expect(await asked[0]).toBe('Request cancelled');
  expect(onWithdrawn).not.toHaveBeenCalled();
});
