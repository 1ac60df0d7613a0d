import { expect, it } from 'vitest';
import { createGateway } from '../gateway.ts';
import { toStep } from './to-step.ts';

it.each([
  ['filter', /steps\[0\]: "filter" is a name; in a program, call the step: import \{ filter \} from/],
  [5, /steps\[0\]: 5 cannot be a step; give a function/],
  [null, /steps\[0\]: null cannot be a step/],
  [undefined, /steps\[0\]: undefined cannot be a step/],
  [{}, /steps\[0\]: a step needs a name/],
  [{ name: 'idle' }, /steps\[0\]: step idle does nothing; give it a handle/],
])('refuses %j as a step, and says why', (step, message) => {
  expect(() => createGateway({ servers: {}, steps: [step as never] })).toThrow(message);
});

it('names a function by itself, or by its place', () => {
  const named = () => undefined as never;
  expect(toStep(named, 0).name).toBe('named');
  expect(toStep(() => undefined as never, 3).name).toBe('steps[3]');
});
