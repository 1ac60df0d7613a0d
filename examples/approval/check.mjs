// Starts the gateway and calls it with a client that shows no forms, then with one that does. Exits non-zero when a note is
// deleted that nobody wanted to be deleted.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';
import { answerOnPage } from './person.mjs';

const parley = fileURLToPath(new URL('dist/cli/main.js', import.meta.resolve('mcp-parley/package.json')));
const config = fileURLToPath(new URL('parley.config.jsonc', import.meta.url));
const gateway = spawn(process.execPath, [parley, 'serve', config, '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});

try {
  const entry = await entryFrom(gateway);
  await withoutForms(entry);
  await withForms(entry);
} finally {
  gateway.kill();
  await once(gateway, 'exit');
}

/** Most clients: the result of the call has a link for the user. The model cannot answer in their place. */
async function withoutForms(entry) {
  const client = await connect(entry);
  const call = async (name, args = {}) => {
    const { content, _meta } = await client.callTool(name, args);
    const [{ text }] = content;
    return { text, handle: _meta?.['mcp-parley/handle'], link: /http:\S+\/ask\?\S+/.exec(text)?.[0] };
  };
  assert.equal((await call('list_notes')).text, 'shopping, ideas', 'what destroys nothing is not asked about');

  const asked = await call('delete_note', { name: 'ideas' });
  const refused = await call('parley_answer', { handle: asked.handle, answer: { approve: true } });
  assert.notEqual(refused.text, 'Deleted ideas', 'the word of a model is not taken');
  assert.match(await answerOnPage(asked.link, true), /delete_note/);
  const deleted = await call('parley_answer', { handle: asked.handle });
  assert.equal(deleted.text, 'Deleted ideas');

  const again = await call('delete_note', { name: 'shopping' });
  await answerOnPage(again.link, false);
  const kept = await call('parley_answer', { handle: again.handle });
  assert.match(kept.text, /not approved/);
  assert.equal((await call('list_notes')).text, 'shopping');
  await client.close();
  console.log(`without forms: ${deleted.text}; then ${kept.text}`);
}

async function withForms(entry) {
  const onElicit = ({ message }) => {
    console.log(message.replace(/^/gm, '  '));
    return { action: 'accept', content: { approve: true } };
  };
  const client = await connect(entry, { onElicit });
  const { content } = await client.callTool('delete_note', { name: 'shopping' });
  await client.close();
  assert.equal(content[0].text, 'Deleted shopping');
  console.log(`with forms: ${content[0].text}`);
}

/** The URL and the token, from the line for clients. */
async function entryFrom({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    const { parley: entry } = line.includes('"mcpServers"') ? JSON.parse(line).mcpServers : {};
    if (entry) {
      stdout.resume();
      return entry;
    }
  }
  throw new Error('the gateway ended');
}
