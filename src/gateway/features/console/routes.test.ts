// Every route of the console's API is tried as all who must not use it: the list of routes is the list of tests, so that a new one is covered.
import { expect, it } from 'vitest';
import { Paired, clientOf, start } from './paired-browser.contract.ts';
import { ROUTES } from './routes.ts';

const ALL = Object.entries(ROUTES);
const OF_OPERATOR = ALL.filter(([, { isForOperator }]) => isForOperator);
const KEYS = [
  { name: 'ops', key: 'o'.repeat(40), scopes: ['admin', 'mcp'] },
  { name: 'laptop', user: 'alice', key: 'a'.repeat(40), scopes: ['mcp'] },
];

/** What a user of the gateway and its operator have in their browsers. */
async function browsers() {
  const served = await start({ auth: { keys: KEYS } });
  const [operator, alice] = [new Paired(served.root), new Paired(served.root)];
  await operator.enter(served.gateway);
  await alice.enter(served.gateway, 'alice');
  return { ...served, operator, alice };
}

const send = (browser: Paired, [name, { method }]: (typeof ALL)[number], headers: Record<string, string> = {}) =>
  method === 'POST' ? browser.post(name, {}, headers) : browser.read(name, headers);

it('the console has routes for the operator alone', () => {
  expect(OF_OPERATOR.map(([name]) => name)).toEqual(expect.arrayContaining(['tools', 'accept']));
});

it.each(OF_OPERATOR)('a user gets nothing of %s, which is for the operator', async (...route) => {
  const { operator, alice } = await browsers();
  const refused = await send(alice, route);
  expect(refused.status).toBe(403);
  expect(await refused.json()).toEqual({ error: 'This is for the operator.' });
  expect((await send(operator, route)).status).not.toBe(403);
});

it.each(ALL)(
  '%s is refused to other sites, to browsers that are not paired, and to programs of users',
  async (...route) => {
    const { alice, operator, root } = await browsers();
    const [name, { method }] = route;
    const post = method === 'POST';
    expect((await send(operator, route, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await send(operator, route, { 'sec-fetch-site': 'same-site' })).status).toBe(403);
    if (post) expect((await send(operator, route, { origin: 'http://127.0.0.1:1' })).status).toBe(403);
    expect((await send(operator, route, { cookie: '' })).status).toBe(401);
    // The key of another gateway, and a cookie without its path.
    expect((await fetch(`${root}console/api/x/${name}`, { method, headers: { cookie: alice.cookie } })).status).toBe(
      401,
    );
    expect((await fetch(`${root}console/api/me/${name}`, { method, headers: { cookie: alice.cookie } })).status).toBe(
      401,
    );
    const asProgram = async (key?: string) =>
      (
        await fetch(`${root}console/api/${name}`, {
          method,
          ...(post && { body: new URLSearchParams({}) }),
          ...(key !== undefined && { headers: { authorization: `Bearer ${key.repeat(40)}` } }),
        })
      ).status;
    expect(await asProgram()).toBe(401);
    expect(await asProgram('a')).toBe(403);
    if (post) expect(await asProgram('o')).toBe(405); // a program changes nothing
  },
);

it.each(ALL)('%s survives malformed and huge queries, forms and methods', async (name, { method }) => {
  const { operator, gateway, url } = await browsers();
  const huge = 'x'.repeat(12_000);
  const odd = [
    'id',
    'id=',
    'id=%',
    'id=%00',
    'id=__proto__',
    'id=constructor',
    `id=${huge}`,
    'id=1&id=2',
    '?&&==&',
    '%FF=%FF',
  ];
  const expected = [200, 400, 404, 409, 422];
  for (const query of odd) {
    if (name === 'events') break; // it reads no query, and would stay open
    const { status } =
      method === 'POST' ? await operator.post(`${name}?${query}`, {}) : await operator.read(`${name}?${query}`);
    expect([query.slice(0, 20), status]).toEqual([
      query.slice(0, 20),
      expect.toSatisfy((one) => expected.includes(one)),
    ]);
  }
  const headers = { cookie: operator.cookie, origin: new URL(operator.root).origin, 'sec-fetch-site': 'same-origin' };
  for (const other of ['PUT', 'DELETE', 'PATCH', method === 'POST' ? 'GET' : 'POST'])
    expect([403, 404, 405, 415]).toContain((await fetch(`${operator.api}${name}`, { method: other, headers })).status);
  if (method === 'POST') {
    const say = async (type: string, body: string) =>
      (await fetch(`${operator.api}${name}`, { method: 'POST', body, headers: { ...headers, 'content-type': type } }))
        .status;
    expect(await say('application/json', '{"__proto__":{}}')).toBe(415);
    expect(await say('multipart/form-data; boundary=x', '--x broken')).toBe(415);
    expect(await say('application/x-www-form-urlencoded', `a=${'x'.repeat(300_000)}`)).toBe(415);
    expect(expected).toContain(
      await say('application/x-www-form-urlencoded', '__proto__=1&constructor=2&=&%&handle=%00'),
    );
  }
  expect((await operator.now()).viewer.isOperator).toBe(true);
  const client = await clientOf(url, { authorization: `Bearer ${'a'.repeat(40)}` });
  expect(await client.listTools()).toHaveLength(1);
  expect(gateway.servers).toHaveLength(1);
});

it.each(['__proto__', 'constructor', 'toString', '', '..', 'NOW', 'now%00'])('there is no route %j', async (name) => {
  const { operator } = await browsers();
  expect([401, 404]).toContain((await operator.read(name)).status);
});
