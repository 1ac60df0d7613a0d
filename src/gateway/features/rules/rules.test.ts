import { describe, expect, it } from 'vitest';
import type { Ask, ClientView } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { toPlainObject } from '../../../kernel/raw/raw-object.ts';
import type { Handle } from '../../../kernel/target.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { MemoryState } from '../../../kernel/state/memory-state.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { createChain } from '../../chain/chain.ts';
import { FakeClock, FakeExchange } from '../../../kernel/fake-exchange.contract.ts';
import { GatewayRules } from './gateway-rules.ts';
import type { RuleOptions } from './rule.ts';

const SERVERS = ['crm', 'web', 'mail'];
const tools = [
  { name: 'crm__read', annotations: { readOnlyHint: true } },
  { name: 'crm__delete' },
  { name: 'web__fetch' },
  { name: 'crm__local', annotations: { openWorldHint: false } },
  { name: 'mail__local', annotations: { openWorldHint: false } },
  { name: 'mail__send', annotations: { readOnlyHint: true, destructiveHint: false } },
];
const resources = [{ uri: 'file:///data/a' }, { uri: 'file:///etc/passwd' }];
const YES = { action: 'accept', content: { approve: true } };
let count = 0;

class Call extends FakeExchange {
  readonly asked: Ask[] = [];
  override readonly id: string = `ruled-${count++}`;
  answer: JsonObject = YES;

  override async ask(ask: Ask): Promise<JsonObject> {
    this.asked.push(ask);
    return this.answer;
  }
}

function gateway(rules: RuleOptions[], clock = new FakeClock(), values: string[] = []) {
  const seen: string[] = [];
  const last: Handle = (exchange) => {
    const { method, params, resourceGuard } = exchange;
    if (method === 'tools/list') return { tools, cacheScope: 'public' };
    if (method === 'resources/list') return { resources };
    if (method === 'prompts/list') return { prompts: [{ name: 'crm__brief' }] };
    const { uri } = (params.ref ?? {}) as { uri?: string };
    if (uri !== undefined && resourceGuard?.({ server: 'crm', name: uri }) === false) throw denied(uri);
    if (method === 'completion/complete') return { completion: { values, total: 9, hasMore: true } };
    if (resourceGuard?.({ server: 'crm', name: String(params.uri) }) === false) throw denied(params.uri);
    seen.push(`${method} ${String(params.name ?? params.toolName ?? params.uri ?? '')}`);
    return { ok: true };
  };
  const ruling = new GatewayRules();
  ruling.rules = rules;
  const [step] = ruling.steps({
    servers: SERVERS,
    trustedAnnotations: new Set(['crm']),
    clock,
    log: createLog({ level: 'silent' }),
    state: new MemoryState(clock),
  });
  const chain = createChain([step!], last, {
    originOf: (area, name) => {
      if (area === 'resources') return { server: 'crm', name };
      const [server, ...own] = name.split('__');
      return own.length > 0 ? { server: server!, name: own.join('__') } : undefined;
    },
  });
  const call = async (exchange: FakeExchange) => toPlainObject(await chain(exchange));
  const use = async (name: string, args: JsonObject = {}, client: Partial<ClientView> = {}) => {
    const exchange = new Call('tools/call', { name, arguments: args }, client);
    const result = await call(exchange).catch((error: { code: string }) => ({ error: error.code }));
    return { result: result as JsonObject, exchange };
  };
  const says = async (name: string, args?: JsonObject, client?: Partial<ClientView>) => {
    const before = seen.length;
    const { result, exchange } = await use(name, args, client);
    if (exchange.asked.length > 0) return 'ask';
    if (result.error) return String(result.error);
    return seen.length > before ? 'allow' : 'deny';
  };
  const listed = async (client: Partial<ClientView> = {}) => {
    const { tools: shown } = await call(new Call('tools/list', {}, client));
    return (shown as { name: string }[]).map(({ name }) => name);
  };
  return { call, use, says, listed, seen, ready: ruling.ready, chain };
}

function denied(uri: unknown): Error {
  return new GatewayError('ACCESS_DENIED', { uri: String(uri) });
}

const who = (groups: string[], scopes: string[] = []): Partial<ClientView> => ({
  principal: 'key:ann',
  connection: { transport: 'http', identity: { principal: 'key:ann', groups, scopes } },
});

describe('rules: which one decides', () => {
  it('the first that matches; without one, everything is allowed', async () => {
    const { says } = gateway([
      { tool: 'crm__read', effect: 'allow' },
      { server: 'crm', effect: 'deny' },
      { tool: 'send', effect: 'ask' },
    ]);
    expect(await says('crm__read')).toBe('allow');
    expect(await says('crm__delete')).toBe('deny');
    expect(await says('web__fetch')).toBe('allow');
    expect(await says('mail__send')).toBe('ask');
  });

  it('rules decide by principal, group and scope of the login, and by nothing that a client says', async () => {
    const { says } = gateway([
      { principal: 'key:bob', effect: 'deny' },
      { group: 'staff', scope: 'crm:write', effect: 'allow' },
      { tool: 'crm__*', effect: 'deny' },
    ]);
    expect(await says('crm__delete', {}, who(['staff'], ['crm:write']))).toBe('allow');
    expect(await says('crm__delete', {}, who(['staff'], []))).toBe('deny');
    expect(await says('crm__delete', {}, who(['guests'], ['crm:write']))).toBe('deny');
    expect(await says('web__fetch', {}, { principal: 'key:bob' })).toBe('deny');
    expect(await says('web__fetch', {}, { principal: 'anonymous:session:1' })).toBe('allow');
  });

  it('key:NAME is the name of an API key, user:NAME its user, as in ask.trust; the user is still meant by key:USER', async () => {
    const laptop = {
      principal: 'key:zoe',
      connection: { transport: 'http' as const, identity: { principal: 'key:zoe', key: 'lap1' } },
    };
    for (const principal of ['key:lap1', 'user:zoe', 'key:zoe', 'key:*', ['key:other', 'key:lap1']]) {
      expect(await gateway([{ principal, effect: 'deny' }]).says('web__fetch', {}, laptop)).toBe('deny');
      const { says } = gateway([{ principal, effect: 'allow' }, { effect: 'deny' }]);
      expect(await says('web__fetch', {}, laptop)).toBe('allow');
    }
    for (const principal of ['user:lap1', 'key:lap', 'key:other'])
      expect(await gateway([{ principal, effect: 'deny' }]).says('web__fetch', {}, laptop)).toBe('allow');
    const issued = { principal: 'https://login.test#carol' };
    const login = { ...issued, connection: { transport: 'http' as const, identity: issued } };
    const { says } = gateway([{ principal: 'user:https://login.test#carol', effect: 'deny' }]);
    expect(await says('web__fetch', {}, login)).toBe('deny');
  });

  it.each<[string, Partial<ClientView>, { principal: string; key: string; user: string }]>([
    [
      'an API key',
      { principal: 'key:zoe', connection: { transport: 'http', identity: { principal: 'key:zoe', key: 'lap1' } } },
      { principal: 'key:lap1', key: 'lap1', user: 'zoe' },
    ],
    [
      'a login',
      {
        principal: 'https://login.test#carol',
        connection: { transport: 'http', identity: { principal: 'https://login.test#carol' } },
      },
      { principal: 'https://login.test#carol', key: '', user: 'https://login.test#carol' },
    ],
    ['nobody known', { principal: 'local' }, { principal: 'anonymous', key: '', user: '' }],
    ['a session', { principal: 'anonymous:session:1' }, { principal: 'anonymous', key: '', user: '' }],
  ])('expressions see who calls as rules name them: %s', async (_, client, named) => {
    for (const [name, value] of Object.entries(named)) {
      const when = `${name} == ${JSON.stringify(value)}`;
      expect([when, await gateway([{ when, effect: 'ask' }]).says('web__fetch', {}, client)]).toEqual([when, 'ask']);
      const other = `${name} != ${JSON.stringify(value)}`;
      expect([other, await gateway([{ when: other, effect: 'deny' }]).says('web__fetch', {}, client)]).toEqual([
        other,
        'allow',
      ]);
    }
  });

  it('what is hidden is unknown, and what is not listed cannot be called', async () => {
    const { says, listed } = gateway([{ tool: 'crm__delete', effect: 'hide' }]);
    expect(await says('crm__delete')).toBe('TOOL_NOT_FOUND');
    expect(await says('crm__Delete')).toBe('TOOL_NOT_FOUND');
    expect(await listed()).toEqual(['crm__read', 'web__fetch', 'crm__local', 'mail__local', 'mail__send']);
  });

  it('claims of a server restrict, and permit nothing', async () => {
    const { says } = gateway([{ annotation: 'destructive', effect: 'deny' }]);
    // crm is trustedAnnotations to only read; mail says so, too, and is not.
    expect([await says('crm__read'), await says('crm__delete'), await says('mail__send')]).toEqual([
      'allow',
      'deny',
      'deny',
    ]);
    const outward = gateway([{ annotation: 'openWorld', effect: 'deny' }]);
    expect([await outward.says('crm__local'), await outward.says('mail__local')]).toEqual(['allow', 'deny']);
    const bad = gateway([{ annotation: 'readOnly', effect: 'allow' }]);
    await expect(bad.ready).rejects.toThrow('rules[0].annotation: is a claim of the server');
  });

  it('rules decide by arguments; an expression that fails denies', async () => {
    const { says, listed } = gateway([
      { tool: 'send', when: 'args.to.endsWith("@example.com")', effect: 'allow' },
      { tool: 'send', effect: 'ask' },
      { tool: 'delete', when: 'args.count > 3', effect: 'deny' },
    ]);
    expect(await says('mail__send', { to: 'a@example.com' })).toBe('allow');
    expect(await says('mail__send', { to: 'a@example.org' })).toBe('ask');
    expect(await says('mail__send', {})).toBe('deny');
    expect(await says('crm__delete', { count: 4 })).toBe('deny');
    expect(await says('crm__delete', { count: 3 })).toBe('allow');
    expect(await listed()).toHaveLength(6);
  });

  it.each([
    '{"__proto__":{"path":"/etc/passwd"}}',
    '{"path":"/srv","__proto__":{"path":"/etc/passwd"}}',
    '{"in":[{"__proto__":{"path":"/etc/passwd"}}]}',
  ])('arguments in which a server may find other keys than the rule are denied: %s', async (text) => {
    const { says } = gateway([
      { tool: 'read', when: 'has(args.path) && args.path.startsWith("/etc")', effect: 'deny' },
    ]);
    expect(await says('crm__read', JSON.parse(text) as JsonObject)).toBe('deny');
    expect(await says('web__fetch', JSON.parse(text) as JsonObject)).toBe('allow'); // no rule looks at these
  });

  it('the decision is written to the exchange, for the audit log', async () => {
    const { use } = gateway([
      { server: 'web', effect: 'allow' },
      { server: 'crm', effect: 'deny' },
    ]);
    expect((await use('crm__read')).exchange).toMatchObject({ decision: { rule: 'rules[1]', effect: 'deny' } });
    expect((await use('mail__send')).exchange).not.toHaveProperty('decision');
  });

  it('a refusal names no rule, and a no of the person counts', async () => {
    const { use, call, seen } = gateway([
      { server: 'crm', effect: 'deny' },
      { server: 'mail', effect: 'ask' },
    ]);
    const { result } = await use('crm__read');
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('A rule of the gateway forbids crm__read') }],
    });
    expect(JSON.stringify(result)).not.toContain('rules[');
    const exchange = new Call('tools/call', { name: 'mail__send' });
    exchange.answer = { action: 'decline' };
    expect(await call(exchange)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('the user said no') }],
    });
    expect(seen).toEqual([]);
  });

  it('custom methods are judged, too; those of the protocol are not', async () => {
    const { call } = gateway([{ effect: 'deny' }]);
    await expect(call(new Call('acme/run'))).rejects.toMatchObject({ code: 'FORBIDDEN_BY_RULE' });
    await expect(call(new Call('tasks/get', { taskId: 't' }))).resolves.toEqual({ ok: true });
    const byMethod = gateway([{ method: 'acme/*', server: 'crm', effect: 'hide' }]);
    await expect(byMethod.call(new Call('acme/run'))).rejects.toMatchObject({ code: 'METHOD_NOT_FOUND' });
  });

  it('refuse a method that is not in the method table, unless a rule allows it', async () => {
    const { call, seen } = gateway([{ server: 'crm', tool: 'delete', effect: 'deny' }]);
    await expect(call(new Call('acme/delete'))).rejects.toMatchObject({ code: 'FORBIDDEN_BY_RULE' });
    await expect(call(new Call('interaction.new', { sessionId: 's' }))).rejects.toMatchObject({
      code: 'FORBIDDEN_BY_RULE',
    });
    await expect(call(new Call('sampling/createMessage'))).rejects.toMatchObject({ code: 'FORBIDDEN_BY_RULE' });
    expect(seen).toEqual([]);
    await expect(call(new Call('skills/list'))).resolves.toEqual({ ok: true });
    const open = gateway([{ method: 'acme/*', effect: 'allow' }]);
    await expect(open.call(new Call('acme/delete'))).resolves.toEqual({ ok: true });
    await expect(open.call(new Call('other/delete'))).rejects.toMatchObject({ code: 'FORBIDDEN_BY_RULE' });
    const marked = gateway([{ server: 'crm', marks: 'private' }]);
    await expect(marked.call(new Call('acme/delete'))).rejects.toMatchObject({ code: 'FORBIDDEN_BY_RULE' });
  });
});

describe('rules: resources', () => {
  const spellings = [
    'file:///etc/passwd',
    'file:////etc/passwd',
    'file:///%65tc/passwd',
    'file:///data/%2e%2e/%65tc/passwd',
    'file:///etc/passwd?x=1',
    'file:///etc/passwd#x',
    'file://127.0.0.1/etc/passwd',
    'file://localhost/etc/passwd',
    'file://localhost./etc/passwd',
    'file://localhost:80/etc/passwd',
    'file://evil/etc/passwd',
    'FILE://evil.example/%65tc/passwd',
    'file:etc/passwd',
    'FILE:///etc/./passwd',
    'file:///ETC/passwd',
  ];

  it.each(spellings)('%s is the same resource', async (uri) => {
    const { call } = gateway([{ resource: 'file:///etc/*', effect: 'deny' }]);
    await expect(call(new Call('resources/read', { uri }))).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    const hidden = gateway([{ resource: 'file:///etc/*', effect: 'hide' }]);
    await expect(hidden.call(new Call('resources/read', { uri }))).rejects.toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
    });
    const asked = gateway([{ resource: 'file:///etc/*', effect: 'ask' }]);
    const read = new Call('resources/read', { uri });
    await asked.call(read);
    expect(read.asked).toHaveLength(1);
  });

  it.each(['mem://Secret/One', 'mem:Secret/One', 'mem:/Secret/One', 'MEM:Secret/One'])(
    'a resource under a name without a host is the same: %s',
    async (uri) => {
      const { call } = gateway([{ resource: 'mem://Secret/*', effect: 'deny' }]);
      await expect(call(new Call('resources/read', { uri }))).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
      await expect(call(new Call('resources/read', { uri: 'mem:Other/One' }))).resolves.toEqual({ ok: true });
    },
  );

  it.each(['file:///%65tc/passwd?%', 'file:///etc/passwd?x=%zz', 'file:///%ff'])(
    '%s cannot be decoded and is refused',
    async (uri) => {
      const { call } = gateway([{ resource: 'file:///srv/*', effect: 'deny' }]);
      await expect(call(new Call('resources/read', { uri }))).rejects.toMatchObject({ code: 'ACCESS_DENIED' });
    },
  );

  it('a list shows what may be read', async () => {
    const { call } = gateway([{ resource: 'file:///data/*', effect: 'allow' }, { effect: 'deny' }]);
    expect(await call(new Call('resources/list'))).toMatchObject({ resources: [{ uri: 'file:///data/a' }] });
    await expect(call(new Call('resources/read', { uri: 'file:///data/../etc/passwd' }))).rejects.toMatchObject({
      code: 'ACCESS_DENIED',
    });
    await expect(call(new Call('resources/read', { uri: 'file:///data/a' }))).resolves.toEqual({ ok: true });
  });
});

describe('rules: completion', () => {
  const values = ['etc/passwd', 'etc/shadow', 'data/a', 'ETC/../etc/hosts'];
  const complete = (ref: object, argument: object, context?: object) =>
    new Call('completion/complete', { ref, argument, ...(context && { context }) });

  it.each(['file:///{+path}', 'file:///{path}', 'file:///{path}{?version}', 'file://{/path*}'])(
    'of %s suggests nothing that may not be read',
    async (uri) => {
      const { call } = gateway([{ resource: 'file:///etc/*', effect: 'deny' }], undefined, values);
      const answer = await call(complete({ type: 'ref/resource', uri }, { name: 'path', value: 'etc/' }));
      expect(answer).toEqual({ completion: { values: ['data/a'], hasMore: false } });
    },
  );

  it('completion of one part of a path counts the other parts', async () => {
    const { call } = gateway([{ resource: 'file:///etc/*', effect: 'hide' }], undefined, ['passwd', 'hosts']);
    const ref = { type: 'ref/resource', uri: 'file:///{folder}/{name}' };
    const of = (folder: string) => call(complete(ref, { name: 'name', value: '' }, { arguments: { folder } }));
    expect(await of('etc')).toMatchObject({ completion: { values: [] } });
    expect(await of('data')).toMatchObject({ completion: { values: ['passwd', 'hosts'], total: 9 } });
  });

  it('completion of a prompt suggests no value that the rules forbid', async () => {
    const rules: RuleOptions[] = [{ prompt: 'brief', when: 'args.about.startsWith("etc")', effect: 'deny' }];
    const { call } = gateway(rules, undefined, values);
    const answer = await call(complete({ type: 'ref/prompt', name: 'crm__brief' }, { name: 'about', value: 'e' }));
    expect(answer).toEqual({ completion: { values: ['data/a', 'ETC/../etc/hosts'], hasMore: false } });
  });
});

describe('rules: what was read before', () => {
  const rules: RuleOptions[] = [
    { server: 'crm', marks: 'private' },
    { server: 'web', marks: 'untrusted' },
    { server: 'mail', marks: 'out' },
    { marked: 'out', after: ['private', 'untrusted'], effect: 'ask' },
  ];

  it('a person is asked before anything goes out after private and untrusted were read', async () => {
    const { says } = gateway(rules);
    expect(await says('mail__send')).toBe('allow');
    await says('crm__read');
    expect(await says('mail__send')).toBe('allow');
    await says('web__fetch');
    expect(await says('mail__send')).toBe('ask');
    expect(await says('mail__send', {}, { principal: 'bob' })).toBe('allow');
  });

  it('a call in flight counts, and a session can be judged alone', async () => {
    const { says, use } = gateway([...rules.slice(0, 3), { ...rules[3]!, per: 'session' }]);
    const inSession = (session: string): Partial<ClientView> => ({ connection: { transport: 'http', session } });
    void use('crm__read', {}, inSession('1'));
    void use('web__fetch', {}, inSession('1'));
    expect(await says('mail__send', {}, inSession('1'))).toBe('ask');
    expect(await says('mail__send', {}, inSession('2'))).toBe('allow');
  });

  it('callers without a login share what they have read, as any of them may connect again', async () => {
    const { says } = gateway(rules);
    await says('crm__read', {}, { principal: 'anonymous:session:1' });
    await says('web__fetch', {}, { principal: 'anonymous:session:2' });
    expect(await says('mail__send', {}, { principal: 'anonymous:session:3' })).toBe('ask');
  });

  it('it is forgotten after a day, or as the rule says', async () => {
    const clock = new FakeClock();
    const { says } = gateway(rules, clock);
    await says('crm__read');
    await says('web__fetch');
    await clock.advance(86_400_000 - 1);
    expect(await says('mail__send')).toBe('ask');
    await clock.advance(2);
    expect(await says('mail__send')).toBe('allow');
  });
});

describe('rules: lists', () => {
  it('the lists of one caller are kept for no other', async () => {
    const { call } = gateway([{ principal: 'key:bob', effect: 'deny' }]);
    expect(await call(new Call('tools/list'))).toMatchObject({ cacheScope: 'private' });
  });
});
