// Starts server.mjs as a client would, in both eras, and exits non-zero when it does not behave.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';

const program = { command: process.execPath, args: [fileURLToPath(new URL('server.mjs', import.meta.url)), '--stdio'] };

for (const revision of ['2025-11-25', '2026-07-28']) {
  const asked = [];
  const onElicit = ({ message }) => {
    asked.push(message);
    return { action: 'accept', content: { breakfast: true } };
  };
  const client = await connect(program, { revision, onElicit });
  const { structuredContent } = await client.callTool('quote', { city: 'Oslo', nights: 2 });
  assert.deepEqual(structuredContent, { city: 'Oslo', price: 190 });
  assert.deepEqual(asked, ['2 nights in Oslo']);
  const { isError, content } = await client.callTool('quote', { city: 'Oslo', nights: 0 });
  assert.equal(isError, true, 'nights: 0 must be refused');
  assert.match(content[0].text, /nights/);
  await client.close();
  console.log(`${revision}: asked "${asked[0]}", quoted ${structuredContent.price}`);
}

const silent = await connect(program); // cannot be asked, so its model passes the question on
const { content } = await silent.callTool('quote', { city: 'Oslo', nights: 1 });
const [, handle] = /"handle":"([^"]+)"/.exec(content[0].text);
const answered = await silent.callTool('parley_answer', { handle, answer: { breakfast: false } });
assert.deepEqual(answered.structuredContent, { city: 'Oslo', price: 80 });
await silent.close();
