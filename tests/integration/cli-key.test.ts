// `parley key`, and gateways that others can reach: they ask for the keys of their user, and refuse to listen without any.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homesOfTests } from '../helpers/parley.ts';

const { newHome } = homesOfTests();

test('a key is printed once, listed without its secret, and kept as a hash that only its user can read', async () => {
  const home = newHome();
  const added = await home.run(['key', 'add', 'laptop', '--expires', '90d']);
  expect(added).toMatchObject({ status: 0, stdout: expect.stringMatching(/^parley_[\w-]{43}\n$/) });
  const listed = await home.run(['key', 'ls']);
  expect(listed.stdout).toContain('laptop');
  expect(listed.stdout).not.toContain(added.stdout.trim());
  expect(statSync(join(home.path, 'state', 'parley', 'api-keys.json')).mode & 0o777).toBe(0o600);

  const again = await home.run(['key', 'add', 'laptop']);
  expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('parley key rm laptop') });
  expect(await home.run(['key', 'rm', 'laptop'])).toMatchObject({ status: 0 });
  expect(await home.run(['key', 'rm', 'laptop'])).toMatchObject({ status: 1 });
  expect((await home.run(['key', 'ls'])).stdout).toBe('There are no keys. To make one: parley key add NAME\n');
});

test('the list shows groups, and no key has the name of another user', async () => {
  const home = newHome();
  expect(await home.run(['key', 'add', 'lap1', '--user', 'zoe', '--group', 'staff'])).toMatchObject({ status: 0 });
  expect((await home.run(['key', 'ls'])).stdout).toMatch(/GROUPS[^]*lap1 +zoe .*staff/);
  for (const args of [
    ['zoe', '--user', 'bob'],
    ['lap2', '--user', 'lap1'],
    ['lap1x', '--user', 'lap1'],
  ])
    expect(await home.run(['key', 'add', ...args])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('"zoe"'),
    });
  expect(await home.run(['key', 'add', 'zoe'])).toMatchObject({ status: 0 });
});

test('keys that are made at the same time are all kept', async () => {
  const home = newHome();
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const added = await Promise.all(names.map((name) => home.run(['key', 'add', name])));
  expect(added.map(({ status }) => status)).toEqual(names.map(() => 0));
  const listed = JSON.parse((await home.run(['key', 'ls', '--json'])).stdout) as { name: string }[];
  expect(listed.map(({ name }) => name).sort()).toEqual(names);
});

test('a gateway that others can reach does not listen without a login, and says what to set', async () => {
  const refused = await newHome().run(['demo', '--host', '0.0.0.0', '--port', '0']);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain('parley key add');
  expect(refused.stderr).toContain('--open');
});

test('a gateway that others can reach asks for the keys of its user, and refuses a removed one', async () => {
  const home = newHome();
  const key = (await home.run(['key', 'add', 'laptop'])).stdout.trim();
  await using gateway = home.start(['demo', '--host', '0.0.0.0', '--port', '0']);
  const url = await gateway.url();
  const statusWith = async (presented?: string): Promise<number> => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(presented !== undefined && { authorization: `Bearer ${presented}` }),
    };
    const clientInfo = { name: 'test', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  expect([await statusWith(), await statusWith('wrong'), await statusWith(key)]).toEqual([401, 401, 200]);
  await home.run(['key', 'rm', 'laptop']);
  expect(await statusWith(key)).toBe(401);
});
