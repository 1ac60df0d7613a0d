// Starts `parley serve` on a free port, asks it as clients and people would, and exits non-zero when it does not behave.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from 'mcp-parley';

const parley = fileURLToPath(new URL('dist/cli/main.js', import.meta.resolve('mcp-parley/package.json')));
const config = fileURLToPath(new URL('parley.config.jsonc', import.meta.url));
const gateway = spawn(process.execPath, [parley, 'serve', config, '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});

try {
  const url = await urlFrom(gateway);

  const client = await connect(url);
  const names = (await client.listTools()).map(({ name }) => name);
  const expected = ['notes__search', 'books__search', 'noon__noon'];
  assert.deepEqual(names, expected, 'both can search; nobody can delete');
  const found = await client.callTool('notes__search', { text: 'bread' });
  const none = await client.callTool('books__search', { text: 'bread' });
  await client.close();
  console.log(`tools: ${names.join(', ')}\nnotes: ${found.content[0].text}\nbooks: ${none.content[0].text}`);

  const alone = await connect(`${url}/books`);
  assert.equal((await alone.listTools())[0].name, 'search', 'a server alone has its own names');
  await alone.close();

  const status = JSON.parse(run('status', '--url', url, '--json'));
  assert.ok(status.servers.every(({ state }) => state === 'ready'));
  console.log(run('call', 'noon__noon', '--arg', 'city=Oslo', '--url', url).trim());
} finally {
  gateway.kill();
  await once(gateway, 'exit');
}

async function urlFrom({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    const [url] = /http:\S+\/mcp/.exec(line) ?? [];
    if (url) {
      stdout.resume();
      return url;
    }
  }
  throw new Error('the gateway ended');
}

function run(...args) {
  return execFileSync(process.execPath, [parley, ...args], { encoding: 'utf8' });
}
