import { createInterface } from 'node:readline';
import { answer } from './bare-answers.mjs';
import { ready } from './usage.mjs';

createInterface({ input: process.stdin }).on('line', (line) => {
  const body = answer(JSON.parse(line));
  if (body !== undefined) process.stdout.write(body + '\n');
});

ready();
