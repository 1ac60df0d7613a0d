// Random rules before servers that run whatever they are given: the same thing gets the same decision by every spelling, path, era and
// method, as a task and as a flow. `RULES_CASES=200000` for the long run; CI makes a few thousand.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { Exchange, Gateway, GatewayOptions, Step, Target } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { modern, rpc } from '../helpers/mcp-http.ts';
import type { Json } from '../helpers/http-wire.ts';
import { decide, isUsable, listable, toRandom, randomRules, USERS } from '../helpers/rules-oracle.ts';
import type { Fact, Random, Rule, Thing } from '../helpers/rules-oracle.ts';

const CASES = Number(process.env.RULES_CASES ?? 1500);
const PER_SET = 250;
const SEED = Number(process.env.RULES_SEED ?? 20261117);
const QUIET = createLog({ level: 'silent' });

const THINGS: readonly Thing[] = [
  { kind: 'tool', server: 'crm', name: 'find' },
  { kind: 'tool', server: 'crm', name: 'delete_all' },
  { kind: 'tool', server: 'crm', name: 'x__go' },
  { kind: 'tool', server: 'crm__x', name: 'go' },
  { kind: 'tool', server: 'web', name: 'find' },
  { kind: 'tool', server: 'web', name: 'crm__find' },
  { kind: 'tool', server: 'web', name: `long_${'n'.repeat(70)}` },
  { kind: 'tool', server: 'flows', name: 'book' },
  { kind: 'tool', server: 'flows', name: 'cancel' },
  { kind: 'prompt', server: 'crm', name: 'brief' },
  { kind: 'prompt', server: 'web', name: 'brief' },
  { kind: 'resource', server: 'crm', name: 'file:///etc/passwd' },
  { kind: 'resource', server: 'crm', name: 'file:///data/a' },
  { kind: 'resource', server: 'web', name: 'https://example.com/a' },
];
const SERVERS = ['crm', 'crm__x', 'web', 'flows'];
const GROUPS = { team: ['crm', 'web', 'flows'], alone: ['crm'] };

interface Ran {
  server: string;
  name: string;
  id: number;
}

let ran: Ran[] = [];
let decisions: { method: string; decision: Exchange['decision'] }[] = [];
let flowsUrl: string;
let closeFlows: () => Promise<void>;

beforeAll(async () => {
  const server = createServer({ name: 'flows', version: '1', log: QUIET });
  serveFlows(
    server,
    ['book', 'cancel'].map((name) =>
      flow({ name, description: name }, async (ask) => {
        const id = await ask.number('id', { message: 'Which?' });
        ran.push({ server: 'flows', name, id });
        return { id };
      }),
    ),
  );
  ({ url: flowsUrl } = await server.listen({ port: 0 }));
  closeFlows = () => server.close();
}, 60_000);

afterAll(() => closeFlows());

/** Runs everything that it is asked to, by whatever name. */
function rude(server: string): Target {
  const entries = (kind: Thing['kind'], key: string) =>
    THINGS.filter((one) => one.kind === kind && one.server === server).map(({ name }) => ({
      ...(key === 'uri' && { name: 'r' }),
      [key]: name,
      ...(kind === 'tool' && { inputSchema: { type: 'object' } }),
    }));
  return {
    info: { name: server, version: '1' },
    capabilities: () => ({ tools: {}, prompts: {}, resources: { subscribe: true }, completions: {} }),
    watch: () => () => {},
    handle({ method, params }) {
      if (method === 'tools/list') return { tools: entries('tool', 'name') };
      if (method === 'prompts/list') return { prompts: entries('prompt', 'name') };
      if (method === 'resources/list') return { resources: entries('resource', 'uri') };
      if (method === 'resources/templates/list') return { resourceTemplates: [] };
      const meta = (params._meta ?? {}) as Json;
      const id = Number((params.arguments as Json | undefined)?.id ?? meta['fuzz/id'] ?? Number.NaN);
      if (!Number.isNaN(id)) ran.push({ server, name: String(params.name ?? params.uri), id });
      if (method === 'tools/call') return { content: [{ type: 'text', text: 'ran' }] };
      if (method === 'prompts/get') return { messages: [] };
      if (method === 'resources/read') return { contents: [{ uri: params.uri, text: 'read' }] };
      return {};
    },
  };
}

/** Outermost: what the audit log would see. */
const watch: Step = {
  name: 'watch',
  async handle(exchange, next) {
    try {
      return await next();
    } finally {
      decisions.push({ method: exchange.method, decision: exchange.decision });
    }
  },
};

class World {
  readonly #gateway: Gateway;
  readonly #fetch: (request: Request) => Promise<Response>;
  readonly #sessions = new Map<string, string>();

  constructor(rules: Rule[], options: Partial<GatewayOptions> = {}) {
    this.#gateway = createGateway({
      servers: { crm: rude('crm'), crm__x: rude('crm__x'), web: rude('web'), flows: flowsUrl },
      groups: GROUPS,
      steps: [watch],
      rules: rules.map(({ test: _, ...rule }) => rule),
      ask: { channels: [] },
      identify: ({ headers }) => USERS.find(({ principal }) => principal === headers['x-user']),
      log: QUIET,
      startMs: 30_000,
      ...options,
    });
    this.#fetch = this.#gateway.endpoint().fetch;
  }

  async request(
    path: string,
    era: string,
    user: string,
    { method, params }: { method: string; params: Json },
  ): Promise<Json> {
    if (era === '2026-07-28') {
      const { body, headers } = modern(method, params, { 'fuzz/id': (params._meta as Json | undefined)?.['fuzz/id'] });
      const name = headers['mcp-name'];
      const coded = name === undefined ? {} : { 'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=` };
      return this.#post(path, body, { ...headers, ...coded, 'x-user': user });
    }
    const session = await this.#session(path, era, user);
    return this.#post(path, rpc(method, params), {
      'mcp-session-id': session,
      'mcp-protocol-version': era,
      'x-user': user,
    });
  }

  close(): Promise<void> {
    return this.#gateway.close();
  }

  async #session(path: string, era: string, user: string): Promise<string> {
    const key = `${path} ${era} ${user}`;
    const known = this.#sessions.get(key);
    if (known) return known;
    const params = { protocolVersion: era, capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } };
    const response = await this.#send(path, rpc('initialize', params), { 'x-user': user });
    const session = response.headers.get('mcp-session-id')!;
    await response.text();
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': era, 'x-user': user };
    await (await this.#send(path, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)).text();
    this.#sessions.set(key, session);
    return session;
  }

  async #post(path: string, body: Json, headers: Record<string, string>): Promise<Json> {
    const text = await (await this.#send(path, body, headers)).text();
    if (text.startsWith('{')) return JSON.parse(text) as Json;
    const events = [...text.matchAll(/^data: ?(\{.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json);
    return events.find(({ id }) => id === body.id) ?? { error: { message: text } };
  }

  #send(path: string, body: Json, headers: Record<string, string>): Promise<Response> {
    const all = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      host: 'localhost',
      ...headers,
    };
    return this.#fetch(
      new Request(`http://localhost${path}`, { method: 'POST', headers: all, body: JSON.stringify(body) }),
    );
  }
}

const ERAS = ['2025-06-18', '2025-11-25', '2026-07-28'];

interface Case extends Fact {
  id: number;
  path: string;
  era: string;
  spelling: string;
  /** Whether the spelling is one that this path takes for the thing. */
  isValid: boolean;
  request: { method: string; params: Json };
}

function toCase(random: Random, id: number): Case {
  const thing = random.one(THINGS);
  const user = random.one(USERS);
  const args = random.args();
  const paths = [
    '/mcp',
    `/mcp/${thing.server}`,
    ...Object.entries(GROUPS).flatMap(([name, of]) => (of.includes(thing.server) ? [`/mcp/${name}`] : [])),
  ];
  const path = random.one(paths);
  const era = random.one(ERAS);
  const { spelling, isValid } = random.spelling(thing, path);
  return {
    id,
    thing,
    user,
    args,
    path,
    era,
    spelling,
    isValid,
    request: toRequest(random, thing, { spelling, args, id, era }),
  };
}

function toRequest(
  random: Random,
  { kind, server }: Thing,
  about: { spelling: string; args: Json; id: number; era: string },
) {
  const { spelling, args, id, era } = about;
  const _meta = { 'fuzz/id': id };
  const given = { ...args, id };
  if (kind === 'prompt') return { method: 'prompts/get', params: { name: spelling, arguments: given } };
  if (kind === 'resource') {
    const method = era === '2026-07-28' ? 'resources/read' : random.one(['resources/read', 'resources/subscribe']);
    return { method, params: { uri: spelling, _meta } };
  }
  const way = random.one(['call', 'call', 'call', 'flow', 'task']);
  if (way === 'flow') return { method: 'interaction.start', params: { toolName: spelling, initialParams: given } };
  const task = way === 'task' && era === '2025-11-25' && server === 'flows' ? { task: { ttl: 60_000 } } : {};
  return { method: 'tools/call', params: { name: spelling, arguments: given, ...task } };
}

describe('one decision for one thing', () => {
  test(`${CASES} cases of spelling, path, era, method, task and flow`, { timeout: 30_000 + CASES * 20 }, async () => {
    const random = toRandom(SEED);
    let [judged, executed] = [0, 0];
    for (let start = 0; start < CASES; start += PER_SET) {
      const rules = randomRules(random);
      const world = new World(rules, { names: random.one(['always', 'on-collision']) });
      const cases = new Map<number, Case>();
      ran = [];
      try {
        for (let id = start; id < Math.min(start + PER_SET, CASES); id++) {
          const one = toCase(random, id);
          cases.set(id, one);
          decisions = [];
          const answer = await world.request(one.path, one.era, one.user.principal, one.request);
          const told = decisions.filter(({ method }) => method === one.request.method).at(-1)?.decision;
          const expected = decide(rules, one, SERVERS);
          const where = `${JSON.stringify({ seed: SEED, rules, ...one })} → ${JSON.stringify(answer)}`;
          if (!one.isValid) continue;
          judged++;
          expect(told ?? null, where).toEqual(expected ?? null);
          if (expected?.effect === 'hide' || expected?.effect === 'deny') expect(isRefusal(answer), where).toBe(true);
        }
        await settle();
        for (const { server, name, id } of ran) {
          executed++;
          const { user, args, thing } = cases.get(id)!;
          const known = THINGS.find((one) => one.server === server && one.kind === thing.kind && one.name === name);
          const fact = { thing: known ?? { kind: thing.kind, server, name }, user, args };
          const why = JSON.stringify({ seed: SEED, rules, ran: { server, name }, of: cases.get(id) });
          expect(isUsable(decide(rules, fact, SERVERS)) && decide(rules, fact, SERVERS)?.effect !== 'ask', why).toBe(
            true,
          );
          if (thing.kind !== 'resource') expect(known, why).toBeDefined(); // nothing runs by a name that no list has
        }
        await expectLists(world, rules);
      } finally {
        await world.close();
      }
    }
    console.log(`${CASES} cases: ${judged} judged alike, ${executed} executed, all of them allowed`);
    expect(judged).toBeGreaterThan(CASES / 3);
    expect(executed).toBeGreaterThan(CASES / 10);
  });
});

/** An unlisted thing cannot be used, and one that no arguments make usable is not listed. */
async function expectLists(world: World, rules: Rule[]): Promise<void> {
  for (const user of USERS) {
    for (const [kind, method, area, key] of [
      ['tool', 'tools/list', 'tools', 'name'],
      ['prompt', 'prompts/list', 'prompts', 'name'],
      ['resource', 'resources/list', 'resources', 'uri'],
    ] as const) {
      for (const server of ['crm', 'web', 'flows']) {
        const answer = await world.request(`/mcp/${server}`, '2026-07-28', user.principal, { method, params: {} });
        const result = answer.result as Json | undefined;
        if (!result?.[area]) continue;
        const shown = (result[area] as Json[]).map((entry) => String(entry[key])).sort();
        const own = THINGS.filter((one) => one.kind === kind && one.server === server);
        const usable = own
          .filter((thing) => listable(rules, { thing, user }, SERVERS))
          .map(({ name }) => name)
          .sort();
        expect(
          shown.filter((name) => own.some((one) => one.name === name)),
          JSON.stringify({ rules, user, server }),
        ).toEqual(usable);
      }
    }
  }
}

function isRefusal({ error, result }: Json): boolean {
  return error !== undefined || (result as Json | undefined)?.isError === true;
}

/** Emulated sessions call after their start was answered. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}
