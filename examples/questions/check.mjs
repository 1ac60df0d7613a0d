// Puts `parley serve` before trips.mjs and calls it with clients of the stateless era: one that can be asked, and one that
// cannot, whose model asks the user in words.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';

const parley = fileURLToPath(new URL('dist/cli/main.js', import.meta.resolve('mcp-parley/package.json')));
const config = fileURLToPath(new URL('parley.config.jsonc', import.meta.url));
const gateway = { command: process.execPath, args: [parley, 'serve', config], env: { PARLEY_TRUST: config } };
const revision = '2026-07-28';
const answers = { 'Where to?': { city: 'Oslo' }, 'For how many days?': { days: 3 } };

const asked = [];
const onElicit = ({ message }) => {
  asked.push(message);
  return { action: 'accept', content: answers[message] };
};
const client = await connect(gateway, { revision, onElicit });
const booked = await client.callTool('book');
await client.close();
assert.equal(booked.content[0].text, 'Oslo, 3 days');
console.log(`asked ${asked.join(' ')} booked ${booked.content[0].text}`);

const silent = await connect(gateway, { revision });
let result = await silent.callTool('book');
const [question] = /“Where to\?”/.exec(result.content[0].text);
for (const answer of Object.values(answers)) {
  const handle = result._meta['mcp-parley/handle'];
  result = await silent.callTool('parley_answer', { handle, answer });
}
await silent.close();
assert.equal(result.content[0].text, 'Oslo, 3 days');
console.log(`the model was told to ask ${question}, passed the answers on, and got ${result.content[0].text}`);
