// A secret: the function is given something that stands for the password. Its text is in no journal, no log and no model, and comes out
// inside a step alone.
import { hash } from 'node:crypto';
import { f, flow } from 'mcp-parley/flow';

export const accounts = new Map();

export const register = flow({ name: 'register', description: 'Open an account' }, async (ask) => {
  const { name, email } = await ask.form('who', {
    name: f.text({ message: 'What is your name?', min: 2 }),
    email: f.text({ message: 'Where can we write to you?', format: 'email' }),
  });
  const password = await ask.text('password', { message: 'Choose a password', min: 12, secret: true });
  const news = await ask.confirm('news', { message: 'Shall we write once a month?' });
  await ask.step(
    'create',
    async (step) => {
      const text = await step.reveal(password);
      accounts.set(email, { name, news, secret: hash('sha256', `${email} ${text}`) }); // a real one takes its time
    },
    { effect: 'retry' },
  );
  return { account: email, greeting: `Welcome, ${name}`, news };
});
