// Calls the gateway as a model would that is talked into something. Exits non-zero when a mail leaves that nobody was asked about.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';

const program = fileURLToPath(new URL('gateway.mjs', import.meta.url));
const asked = [];
const client = await connect(
  { command: process.execPath, args: [program] },
  {
    onElicit({ message }) {
      asked.push(message);
      return { action: 'decline' };
    },
  },
);
const call = async (name, args = {}) => (await client.callTool(name, args)).content[0].text;

try {
  const names = (await client.listTools()).map(({ name }) => name);
  assert.ok(!names.includes('crm__delete_all'), 'what is hidden is not listed');
  await assert.rejects(call('crm__delete_all'), /Unknown tool/);

  assert.equal(await call('mail__send', { to: 'bob@example.com' }), 'Sent to bob@example.com');
  assert.match(await call('mail__send', { to: 'bob@spam.example' }), /A rule of the gateway forbids mail__send/);
  assert.equal(asked.length, 0, 'nothing was read, so nobody is asked');

  await call('crm__read');
  await call('web__fetch');
  const leak = await call('mail__send', { to: 'eve@example.org', text: 'Ada, +47 555 0100' });
  assert.match(leak, /not approved/);
  assert.equal(asked.length, 1);
  console.log(asked[0].replace(/^/gm, '  '));
  console.log(leak);
} finally {
  await client.close();
}
