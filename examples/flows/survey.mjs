// Forty questions in a loop, with one name: the others are `rating#2`, `rating#3` and so on. None depends on another's answer, and `ahead`
// says so: once the file was explored they are put in a few forms, and not one by one.
import { flow } from 'mcp-parley/flow';

const PARTS = [
  'installing it',
  'the first hour',
  'the manual',
  'its errors',
  'its speed',
  'updating it',
  'help',
  'testing',
];
const ASPECTS = ['clear', 'quick', 'reliable', 'pleasant', 'complete'];
const GRADES = [1, 2, 3, 4, 5];

export const survey = flow({ name: 'survey', description: 'Tell us what it is like', version: '1' }, async (ask) => {
  const means = {};
  for (const part of PARTS) {
    let sum = 0;
    for (const aspect of ASPECTS) {
      sum += await ask.choice('rating', GRADES, { message: `How ${aspect} is ${part}?`, ahead: true });
    }
    means[part] = sum / ASPECTS.length;
  }
  const best = PARTS.toSorted((one, other) => means[other] - means[one])[0];
  return { answers: PARTS.length * ASPECTS.length, means, best };
});
