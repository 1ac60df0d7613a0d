// The interactive tools of the fixture `demo`, as the kit describes them.
import { setTimeout as sleep } from 'node:timers/promises';
import { flow } from 'mcp-parley/flow';

const object = (properties = {}) => ({ type: 'object', properties });

const options = [
  { value: 'a', label: 'Option A' },
  { value: 'b', label: 'Option B' },
];

async function book(ask) {
  const destination = await ask.text('destination', { message: 'Enter destination:', required: true });
  ask.progress(2, 5, 'Step 2 of 5');
  const option = await ask.choice('option', options, { message: 'Select option:', required: true, alone: true });
  ask.progress(3, 5);
  const next = await ask.text('next', { message: 'Next step...', deliver: 'continue', required: false, alone: true });
  return { destination, option, next };
}

const gallery = {
  text: (ask) =>
    ask.text('answer', {
      message: 'Enter text:',
      placeholder: 'Type here...',
      default: 'default',
      required: true,
      pattern: '^[a-z]+$',
      min: 3,
      max: 50,
    }),
  choice: (ask) => ask.choice('answer', options, { message: 'Select option:', required: true }),
  confirm: (ask) => ask.confirm('answer', { message: 'Are you sure?', default: false }),
  number: (ask) => ask.number('answer', { message: 'Enter amount:', required: true, min: 0, max: 1000 }),
  date: (ask) => ask.date('answer', { message: 'Select date:', required: true }),
};

export const demoFlows = [
  flow({ name: 'booking', description: 'Book a trip' }, book),
  flow({ name: 'string', description: 'Book a trip' }, book),
  flow({ name: 'booking_strict', description: 'Book a trip', input: object({ party: { type: 'integer' } }) }, book),
  flow({ name: 'ask_once', description: 'One question' }, async (ask) => ({
    said: await ask.text('said', { message: 'Say something:' }),
  })),
  flow({ name: 'registration', description: 'Register' }, async (ask) => {
    const name = await ask.text('name', { message: 'Enter name', deliver: 'prompt', alone: true });
    const email = await ask.text('email', { message: 'Enter email', format: 'email', alone: true });
    return { name, email };
  }),
  flow(
    { name: 'prompt_gallery', description: 'One question of a type', input: object({ type: { type: 'string' } }) },
    async (ask, { type }) => ({ answer: await gallery[type](ask) }),
  ),
  flow({ name: 'slow_step', description: 'Works for ever after its question' }, async (ask) => {
    await ask.text('said', { message: 'Say something:' });
    return ask.step('work', (step) => new Promise((_, reject) => step.signal.addEventListener('abort', reject)));
  }),
  flow({ name: 'slow_start', description: 'Works for a second before it asks' }, async (ask) => {
    await ask.step('work', () => sleep(1000));
    return { said: await ask.text('said', { message: 'Say something:', deliver: 'prompt' }) };
  }),
  flow({ name: 'hang_on_start', description: 'Never comes to its first question', firstQuestion: 300 }, async (ask) => {
    await ask.step('work', (step) => new Promise((_, reject) => step.signal.addEventListener('abort', reject)));
  }),
];
