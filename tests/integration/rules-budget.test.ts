// Rules and callers who choose what they are judged by: arguments that make an expression run for minutes, completions without end, and requests that name two things.
import { afterEach, describe, expect, test } from 'vitest';
import { createLog } from 'mcp-parley';
import type { Client, GatewayOptions } from 'mcp-parley';
import { ChangingServer } from '../helpers/changing-server.ts';
import { fixture } from '../helpers/fixture-server.ts';
import { serving } from '../helpers/moody.ts';
import type { Serving } from '../helpers/moody.ts';

const open: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

interface Ruled extends Serving {
  log: string[];
}

async function ruled(options: GatewayOptions): Promise<Ruled> {
  const log: string[] = [];
  const served = await serving({
    log: createLog({ level: 'warn', write: (line) => void log.push(line) }),
    ...options,
  });
  open.push(async () => served[Symbol.asyncDispose]());
  return Object.assign(served, { log });
}

function desk(): ChangingServer {
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
  const server = new ChangingServer({ tools: [tool('send'), tool('other')] });
  open.push(() => server[Symbol.dispose]());
  return server;
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  return client.callTool(name, args).then(
    ({ content }) => (content[0] as { text: string }).text,
    (error: Error) => error.message,
  );
}

const many = (count: number, toText: (n: number) => string) => Array.from({ length: count }, (_, n) => toText(n));
const a = (count: number) => 'a'.repeat(count);

describe('a rule whose arguments make it run for ever', () => {
  test.each([
    [
      'a loop over texts in a long text',
      'args.to.exists(x, args.body.contains(x))',
      { to: many(3000, (n) => `zzzzzz${n}`), body: a(100_000) },
    ],
    [
      'a loop over a list in a list',
      'args.tags.all(x, x in args.allowed)',
      { tags: many(10_000, () => 't9999'), allowed: many(10_000, (n) => `t${n}`) },
    ],
    ['a pattern of the caller', 'args.path.glob(args.pattern)', { path: a(60_000), pattern: `*${a(20_000)}b*` }],
    [
      'a loop that ends in errors',
      'args.tags.exists(x, int(args.body) == 1)',
      { tags: many(30_000, () => 'x'), body: a(100) },
    ],
    [
      'a loop with an error beside it',
      'args.tags.exists(x, x.y == 1 || args.body.contains("zzzzzz"))',
      { tags: many(3000, () => 'x'), body: a(200_000) },
    ],
  ])('says no: %s', async (_, when, args) => {
    const gateway = await ruled({
      servers: { desk: desk().address },
      rules: [{ tool: 'send', when, effect: 'allow' }],
    });
    const client = await gateway.client();
    const bystander = await gateway.client();
    const [answer, other] = await Promise.all([call(client, 'send', args), call(bystander, 'other', {})]);
    expect(answer).toContain('The rules of the gateway cannot judge send: its arguments are too large for them');
    expect(answer).not.toContain('rules[0]');
    expect(other).toBe('other was called');
    expect(gateway.log.join('')).toContain('it takes too many steps with these arguments');
    expect(await call(client, 'send', args)).toContain('cannot judge send'); // every time
  });

  test('judges a long text within another one, and large arguments, as ever', async () => {
    const gateway = await ruled({
      servers: { desk: desk().address },
      rules: [
        { tool: 'send', when: 'args.body.contains(args.part)', effect: 'deny' },
        { tool: 'send', when: '!args.to.all(x, x.endsWith("@example.com"))', effect: 'deny' },
      ],
    });
    const client = await gateway.client();
    const hard = { body: a(60_000), part: `${a(5000)}b${a(5000)}`, to: ['me@example.com'] };
    expect(await call(client, 'send', hard)).toBe('send was called');
    const body = `${a(30_000)}b${a(20_000)}`;
    expect(await call(client, 'send', { ...hard, body })).toContain('A rule of the gateway forbids send');
    const to = many(10_000, (n) => `u${n}@example.com`);
    expect(await call(client, 'send', { ...hard, to })).toBe('send was called');
    expect(await call(client, 'send', { ...hard, to: [...to, 'x@evil.example'] })).toContain('forbids send');
  });
});

describe('arguments that no person could be shown', () => {
  test('are refused before they are written out', async () => {
    const gateway = await ruled({ servers: { desk: desk().address }, rules: [{ tool: 'send', effect: 'ask' }] });
    const client = await gateway.client();
    const args = Object.fromEntries(many(200_000, (n) => `k${n}`).map((key) => [key, 'v']));
    const answer = await call(client, 'send', args);
    expect(answer).toContain('A person cannot be shown more than 262144');
    expect(gateway.log.join('')).toContain('approval.refused');
  });
});

describe('a completion', () => {
  const rules: GatewayOptions['rules'] = [
    { prompt: 'secret', effect: 'hide' },
    { resource: 'note://secret/*', effect: 'hide' },
    { prompt: 'open', when: 'args.who.contains("7")', effect: 'deny' },
  ];
  const servers = (count = 3) => ({
    one: { s: fixture('completes', [String(count)]) },
    two: { s: fixture('completes', [String(count)]), t: fixture('completes') },
  });
  const complete = (client: Client, ref: object, more: object = {}): Promise<string> =>
    client.request('completion/complete', { ref, argument: { name: 'who', value: '' }, ...more }).then(
      (result) => JSON.stringify(result),
      (error: Error) => error.message,
    );

  test.each(['one', 'two'] as const)('is judged and routed by the type of its reference (%s)', async (count) => {
    const gateway = await ruled({ servers: servers()[count], rules });
    const prefix = count === 'one' ? '' : 's__';
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const client = await gateway.client({ revision });
      const open = { type: 'ref/prompt', name: `${prefix}open` };
      expect(await complete(client, open)).toContain('open 0');
      const secret = { type: 'ref/prompt', name: `${prefix}secret` };
      expect(await complete(client, secret)).not.toContain('secret 0');
      expect(await complete(client, { ...secret, uri: 'x' })).toContain('Invalid params');
      expect(await complete(client, { ...secret, uri: 'note://open/{who}' })).not.toContain('secret 0');
      const hidden = { type: 'ref/resource', uri: 'note://secret/{who}' };
      for (const more of [{}, { uri: 'note://open/{who}' }, { name: `${prefix}open` }])
        expect(await complete(client, hidden, more)).not.toContain('secret/{who} 0');
      for (const ref of [
        { ...hidden, name: `${prefix}open` },
        { ...secret, type: 'ref/other' },
        { ...hidden, type: 'ref/prompt' },
        { name: secret.name, uri: hidden.uri },
      ])
        expect(await complete(client, ref)).not.toMatch(/secret(\/\{who\})? 0/);
    }
  });

  test('of 300,000 values is cut before its values are judged', async () => {
    const gateway = await ruled({ servers: servers(300_000).one, rules });
    const client = await gateway.client();
    const result = JSON.parse(await complete(client, { type: 'ref/prompt', name: 'open' })) as {
      completion: { values: string[]; hasMore: boolean; total?: number };
    };
    const { values, total } = result.completion;
    expect(values).toHaveLength(81); // those of the first hundred without a 7
    expect(total).toBeUndefined();
  });
});
