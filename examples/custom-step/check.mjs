// Starts gateway.mjs as a client would, in both eras, and exits non-zero when the rule does not hold.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';

const program = { command: process.execPath, args: [fileURLToPath(new URL('gateway.mjs', import.meta.url))] };

for (const revision of ['2025-11-25', '2026-07-28']) {
  const asked = [];
  let action = 'decline';
  const onElicit = ({ message }) => {
    asked.push(message);
    return action === 'accept' ? { action, content: {} } : { action };
  };
  const client = await connect(program, { revision, onElicit });
  const pay = async (amount) => (await client.callTool('pay', { amount })).content[0].text;

  assert.equal(await pay(20), 'Paid 20');
  assert.equal(await pay(500), 'The user did not agree.');
  action = 'accept';
  assert.equal(await pay(500), 'Paid 500');
  assert.deepEqual(asked, ['Pay 500?', 'Pay 500?']);
  await client.close();
  console.log(`${revision}: asked twice, paid 20 and 500`);
}
