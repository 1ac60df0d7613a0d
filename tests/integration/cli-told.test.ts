// What commands tell before somebody has to look for it: that a key is needed, a package is missing, or a file is not in force.
import { expect, it } from 'vitest';
import { WEATHER, homesOfTests } from '../helpers/parley.ts';

const { newHome, start } = homesOfTests();
const SERVERS = { weather: WEATHER };

it('shows where the key goes if clients need one, and how to make it; a call without one is told the same', async () => {
  const home = newHome();
  await home.run(['key', 'add', 'laptop']);
  const file = home.write('parley.config.json', { mcpServers: SERVERS, auth: {} });
  const gateway = start(home, ['serve', file, '--port', '0']);
  const url = await gateway.url();
  await gateway.says('http_headers');
  const { stdout } = await home.run(['status', '--lines']);
  for (const lines of [gateway.stdout, stdout]) {
    expect(lines).toContain('--header "Authorization: Bearer KEY"');
    expect(lines).toContain('"headers": {"Authorization": "Bearer KEY"}');
    expect(lines).toMatch(/Every client needs a key\. .*key add NAME/);
  }
  const refused = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
  expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining('parley key add NAME')]);
});

it('refuses to start in front mode without the package that it needs', async () => {
  const home = newHome();
  const hooks = `export const resolve = (name, context, next) => {
    if (name === 'oidc-provider') throw Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' });
    return next(name, context);
  };`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});`;
  const without = home.write('without.mjs', register);
  const front = {
    issuer: 'https://login.example.com',
    clientId: 'gateway',
    clientSecret: 'x',
    allow: { hd: 'a.test' },
  };
  const config = { mcpServers: SERVERS, publicUrl: 'https://mcp.example.com', auth: { front } };
  const file = home.write('parley.config.json', config);
  const ended = await home.run(['serve', file, '--port', '0'], '', { NODE_OPTIONS: `--import ${without}` });
  expect(ended).toMatchObject({ status: 1, stderr: expect.stringMatching(/npm install .*oidc-provider/) });
});

it('says in status and check that the newest version of the file is not in force', async () => {
  const home = newHome();
  const plain = { PARLEY_TRUST: '' };
  const file = home.write('parley.config.json', { mcpServers: SERVERS });
  await home.run(['trust', file, '--yes'], '', plain);
  const gateway = start(home, ['serve', file, '--port', '0'], plain);
  await gateway.says('url = "http');
  const told = async (command: string) => (await home.run([command], '', plain)).stderr;
  for (const command of ['status', 'check']) expect(await told(command)).toBe('');
  home.write('parley.config.json', { mcpServers: { ...SERVERS, more: WEATHER } });
  for (const command of ['status', 'check'])
    expect(await told(command)).toMatch(/has changed since you trusted it.* trust \S*parley\.config\.json/);
  home.write('parley.config.json', '{ "mcpServers": ');
  expect(await told('status')).toMatch(/has errors now\. .*check/);
});

it('refuses a key that has expired before it is made', async () => {
  const { status, stderr } = await newHome().run(['key', 'add', 'laptop', '--expires', '2020-01-01']);
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('is in the past') });
});

it('ends ls with 1 if every server fails, and says why; one that works is enough', async () => {
  const home = newHome();
  const dead = { command: 'no-such-program-here' };
  home.write('parley.config.json', { mcpServers: { one: dead, two: { url: 'http://127.0.0.1:9/mcp' } } });
  const failed = await home.run(['ls', 'tools']);
  expect(failed.status).toBe(1);
  expect(failed.stderr).toContain('one is failing: ');
  expect(failed.stderr).toContain('two is failing: ');
  home.write('parley.config.json', { mcpServers: { ...SERVERS, one: dead } });
  expect(await home.run(['ls', 'tools'])).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('one is failing'),
  });
});

it('says that nothing is recorded yet when rules are to be tried on the past', async () => {
  const home = newHome();
  home.write('parley.config.json', { mcpServers: SERVERS, rules: [{ tool: 'x', effect: 'deny' }] });
  const { status, stdout, stderr } = await home.run(['policy', 'test']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('Nothing is recorded yet');
});
