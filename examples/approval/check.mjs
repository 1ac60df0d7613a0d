// Starts the gateway and calls it over HTTP, and then on stdio with a client that shows forms. Exits non-zero when a note is deleted
// that nobody wanted to be deleted.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';
import { Person } from './person.mjs';

const parley = fileURLToPath(new URL('dist/cli/main.js', import.meta.resolve('mcp-parley/package.json')));
const config = fileURLToPath(new URL('parley.config.jsonc', import.meta.url));
// Paired browsers are kept in a folder of their own here, and no browser is opened.
const state = mkdtempSync(join(tmpdir(), 'approval-'));
Object.assign(process.env, { XDG_STATE_HOME: state, LOCALAPPDATA: state, BROWSER: 'none' });
// Instead of `parley trust`, as nobody is asked here.
process.env.PARLEY_TRUST = config;
const gateway = spawn(process.execPath, [parley, 'serve', config, '--port', '0'], {
  stdio: ['ignore', 'pipe', 'ignore'],
});

try {
  await byPage(await entryFrom(gateway));
  await byForm();
} finally {
  gateway.kill();
  await once(gateway, 'exit');
  rmSync(state, { recursive: true, force: true });
}

/** A client over HTTP: nobody vouches for its forms, so the person answers on the page. */
async function byPage(entry) {
  const onElicit = () => assert.fail('the form of this client is not human approval');
  const client = await connect(entry, { onElicit });
  const call = async (name, args = {}) => {
    const { content, _meta } = await client.callTool(name, args);
    return { text: content[0].text, handle: _meta?.['mcp-parley/handle'] };
  };
  assert.equal((await call('list_notes')).text, 'shopping, ideas', 'what destroys nothing is not asked about');
  const nobody = await call('delete_note', { name: 'ideas' });
  assert.match(nobody.text, /parley pair/, 'no browser is paired yet');

  const page = entry.url.replace(/\/mcp$/, '/ask');
  const person = new Person();
  await person.pair(parley, config, page);
  const asked = await call('delete_note', { name: 'ideas' });
  assert.doesNotMatch(asked.text, /https?:/, 'the model gets no link');
  const refused = await call('parley_answer', { handle: asked.handle, answer: { approve: true } });
  assert.notEqual(refused.text, 'Deleted ideas', 'the word of a model is not taken');
  assert.match(await person.answer(page, true), /delete_note/);
  const deleted = await call('parley_answer', { handle: asked.handle });
  assert.equal(deleted.text, 'Deleted ideas');

  const again = await call('delete_note', { name: 'shopping' });
  await person.answer(page, false);
  const kept = await call('parley_answer', { handle: again.handle });
  assert.match(kept.text, /not approved/);
  assert.equal((await call('list_notes')).text, 'shopping');
  await client.close();
  console.log(`on the page: ${deleted.text}; then ${kept.text}`);
}

/** A client that starts the gateway by an entry of its own configuration: its form is human approval. */
async function byForm() {
  const onElicit = ({ message }) => {
    console.log(message.replace(/^/gm, '  '));
    return { action: 'accept', content: { approve: true } };
  };
  const entry = { command: process.execPath, args: [parley, 'serve', config, '--stdio'] };
  const env = { XDG_STATE_HOME: state, LOCALAPPDATA: state, PARLEY_TRUST: config };
  const client = await connect({ ...entry, env }, { onElicit });
  const { content } = await client.callTool('delete_note', { name: 'shopping' });
  await client.close();
  assert.equal(content[0].text, 'Deleted shopping');
  console.log(`in the form of a stdio client: ${content[0].text}`);
}

/** The URL from the line for clients. The token is printed on terminals only, and by `parley status --lines`. */
async function entryFrom({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    const { parley: entry } = line.includes('"mcpServers"') ? JSON.parse(line).mcpServers : {};
    if (entry) {
      stdout.resume();
      const lines = execFileSync(process.execPath, [parley, 'status', '--lines', '--url', entry.url], {
        encoding: 'utf8',
      });
      return JSON.parse(lines.split('\n').find((one) => one.includes('"mcpServers"'))).mcpServers.parley;
    }
  }
  throw new Error('the gateway ended');
}
