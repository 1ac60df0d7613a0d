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
  env: { ...process.env, PARLEY_TRUST: config }, // instead of `parley trust`, as nobody is asked here
});

try {
  const { url, headers } = await entryFrom(gateway);

  const client = await connect({ url, headers });
  const names = (await client.listTools()).map(({ name }) => name);
  const expected = ['notes__search', 'books__search', 'noon__noon'];
  assert.deepEqual(names, expected, 'both can search; nobody can delete');
  const found = await client.callTool('notes__search', { text: 'bread' });
  const none = await client.callTool('books__search', { text: 'bread' });
  await client.close();
  console.log(`tools: ${names.join(', ')}\nnotes: ${found.content[0].text}\nbooks: ${none.content[0].text}`);

  const alone = await connect({ url: `${url}/books`, headers });
  assert.equal((await alone.listTools())[0].name, 'search', 'a server alone has its own names');
  await alone.close();

  const status = JSON.parse(run('status', '--url', url, '--json'));
  assert.ok(status.servers.every(({ state }) => state === 'ready'));
  console.log(run('call', 'noon__noon', '--arg', 'city=Oslo', '--url', url).trim());
} finally {
  gateway.kill();
  await once(gateway, 'exit');
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

function run(...args) {
  return execFileSync(process.execPath, [parley, ...args], { encoding: 'utf8' });
}
