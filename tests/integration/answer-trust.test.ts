// Attacks on human approval: what a model, a client or another browser may try in order to approve a call by itself.
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { Gateway, GatewayOptions } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { approve } from 'mcp-parley/middleware';
import { FakeBrowser, csrfOf } from '../../src/people/page/fake-round.contract.ts';
import type { AuditEvent } from '../../src/kernel/audit.ts';
import { connected, textOf } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import type { Json } from '../helpers/http-wire.ts';
import { elicits, modern } from '../helpers/mcp-http.ts';
import { until } from '../helpers/until.ts';

const open: Gateway[] = [];
afterEach(async () => {
  for (const gateway of open.splice(0)) await gateway.close();
});

const YES = { action: 'accept' as const, content: { approve: true } };

interface Guarded {
  gateway: Gateway;
  url: string;
  ran: string[];
  /** The links that the person was shown. */
  links: string[];
  receipts: AuditEvent[];
}

async function guarded(options: Partial<GatewayOptions> = {}): Promise<Guarded> {
  const [ran, links, receipts]: [string[], string[], AuditEvent[]] = [[], [], []];
  const log = createLog({ level: 'silent' });
  const desk = createServer({ name: 'desk', version: '1', log });
  desk.tool('wipe', { annotations: { destructiveHint: true } }, (args) => {
    ran.push(JSON.stringify(args));
    return 'wiped';
  });
  const ship = flow({ name: 'ship' }, async (ask) => {
    const isSure = await ask.confirm('sure', { message: 'Ship it?', by: 'human' });
    if (isSure) ran.push('shipped');
    return isSure ? 'shipped' : 'kept';
  });
  serveFlows(desk, [ship]);
  const ask = { notify: ({ link }: { link: string }) => void links.push(link), ...options.ask };
  const audit = (event: AuditEvent) => void receipts.push(event);
  const gateway = createGateway({
    servers: { desk },
    steps: [approve({ when: ['wipe'] })],
    log,
    audit,
    ...options,
    ask,
  });
  open.push(gateway);
  return { gateway, url: (await gateway.listen({ port: 0 })).url, ran, links, receipts };
}

async function paired(gateway: Gateway, link: string, user?: string): Promise<FakeBrowser> {
  const browser = new FakeBrowser();
  await browser.post(link, { do: 'pair', code: (await gateway.pair(user)).code });
  return browser;
}

const shown = (links: string[]): Promise<string> => until('the person to be shown the link', () => links[0]);

describe('answers that no person gave', () => {
  test('an answer that comes with the first request counts for nothing', async () => {
    const { url, ran } = await guarded();
    const inputResponses = Object.fromEntries(['approve', 'ask-1', 'q1'].map((key) => [key, YES]));
    const { json } = await send(url, modern('tools/call', { name: 'wipe', arguments: {}, inputResponses }, elicits));
    const text = JSON.stringify(json);
    expect(text).toContain('A person has been asked');
    expect(text).not.toMatch(/\/ask\?|input_required|Call wipe/);
    expect(ran).toEqual([]);
  });

  test('not even from a client whose forms are believed, to a question whose key is known', async () => {
    const { url, ran } = await guarded({ ask: { trust: 'all' } });
    const yes = { action: 'accept', content: { sure: true } };
    const keys = ['sure', 'sure~1', 'ask-1', 'q1', 'elicit-1'];
    const first = modern('tools/call', { name: 'ship', arguments: {} }, elicits);
    const { json } = await send(url, first);
    const asked = Object.keys((json.result as unknown as { inputRequests: object }).inputRequests);
    const inputResponses = Object.fromEntries([...keys, ...asked].map((key) => [key, yes]));
    const ahead = modern('tools/call', { name: 'ship', arguments: {}, inputResponses }, elicits);
    expect((await send(url, ahead)).text).toContain('inputRequests');
    expect(ran).toEqual([]);
  });

  test.each(['2025-11-25', '2026-07-28'])(
    'the form of a client that says yes at once is not put (%s)',
    async (revision) => {
      const { url, ran } = await guarded();
      let asked = 0;
      const onElicit = () => (asked++, YES);
      await using client = await connected(url, { revision, onElicit, name: 'claude-code' });
      expect(await textOf(client, 'wipe')).toContain('A person has been asked');
      expect(await textOf(client, 'ship')).toContain('A person has been asked');
      expect([asked, ran]).toEqual([0, []]);
    },
  );

  test('a client without forms plays the tool as a session, and its response is not human approval', async () => {
    const { url, ran, links } = await guarded();
    const say = async (method: string, params: Json) =>
      (await send(url, modern(method, params, { experimental: { interactive: true } }))).json as Json;
    const started = (await say('interaction.start', { toolName: 'wipe' })).result as Json;
    await shown(links);
    const answered = await say('interaction.respond', { sessionId: started.sessionId, response: { value: true } });
    expect(ran).toEqual([]);
    expect(answered.result).toBeUndefined();
    const flowed = (await say('interaction.start', { toolName: 'ship' })).result as Json;
    const promptId = (flowed.initialPrompt as Json | undefined)?.promptId ?? 'sure~1';
    const reply = { sessionId: flowed.sessionId, promptId, response: { value: true } };
    expect(JSON.stringify(await say('interaction.respond', reply))).toContain('Only the user can answer this');
    expect(JSON.stringify(await say('interaction.edit', { ...reply, key: 'sure', value: true }))).not.toContain(
      'shipped',
    );
    expect(ran).toEqual([]);
  });

  test('a model gets no link, and its words bring neither a yes nor a no', async () => {
    const { url, ran } = await guarded();
    await using client = await connected(url);
    const { content, _meta } = await client.callTool('wipe');
    const handle = (_meta as Record<string, string>)['mcp-parley/handle'];
    expect(JSON.stringify(content)).not.toMatch(/\/ask/);
    for (const answer of [{ answer: { approve: true } }, { answer: true }, { decline: true }])
      expect(await textOf(client, 'parley_answer', { handle, ...answer })).toContain('not accepted');
    expect(ran).toEqual([]);
  });
});

describe('the page', () => {
  test('shows and takes nothing in a browser that is not paired, even with the link and every cookie it gives', async () => {
    const { url, ran, links } = await guarded();
    await using client = await connected(url);
    await client.callTool('wipe', { path: '/everything' });
    const link = await shown(links);
    const thief = new FakeBrowser();
    for (const got of [await thief.get(link), await thief.open(link)]) {
      expect(got.text).toContain('Pair this browser');
      expect(got.text).not.toContain('/everything');
    }
    const forged = await thief.post(link, {
      csrf: csrfOf((await thief.open(link)).text),
      'q0.0': 'true',
      do: 'accept',
    });
    expect(forged.text).toContain('Pair this browser');
    expect([thief.cookies.size, ran]).toEqual([0, []]);
  });

  test('lets a paired browser approve, and the receipt says who, how and what', async () => {
    const { gateway, url, ran, links, receipts } = await guarded();
    await using client = await connected(url);
    const { _meta } = await client.callTool('wipe', { path: '/tmp' });
    const link = await shown(links);
    const browser = await paired(gateway, link);
    const form = await browser.open(link);
    expect(form.text).toContain('path: &quot;/tmp&quot;');
    await browser.post(link, { csrf: csrfOf(form.text), 'q0.0': 'true' });
    const handle = (_meta as Record<string, string>)['mcp-parley/handle'];
    expect(await textOf(client, 'parley_answer', { handle })).toBe('wiped');
    expect(ran).toEqual(['{"path":"/tmp"}']);
    expect(receipts.filter(({ kind }) => kind === 'approval')).toMatchObject([
      {
        kind: 'approval',
        method: 'tools/call',
        name: 'wipe',
        outcome: 'given',
        details: {
          way: 'page',
          by: expect.stringMatching(/^browser:/),
          shown: expect.stringMatching(/^sha256:[\da-f]{64}$/),
        },
      },
    ]);
  });

  test('lists what waits for a paired browser, and tells any other browser nothing', async () => {
    const { gateway, url, links } = await guarded();
    await using client = await connected(url);
    await client.callTool('wipe');
    const link = await shown(links);
    const page = link.replace(/\?.*/, '');
    expect((await new FakeBrowser().get(page)).text).not.toContain('wipe');
    expect((await (await paired(gateway, link)).get(page)).text).toContain('<code>wipe</code>');
  });

  test('takes no form that another site sends, and no code either', async () => {
    const { gateway, url, ran, links } = await guarded();
    await using client = await connected(url);
    await client.callTool('wipe');
    const link = await shown(links);
    const elsewhere = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } };
    const browser = await paired(gateway, link);
    const { code } = await gateway.pair();
    const form = await browser.open(link);
    const answer = { csrf: csrfOf(form.text), 'q0.0': 'true' };
    expect(await browser.post(link, answer, elsewhere)).toMatchObject({ status: 403 });
    expect(await browser.post(link, { ...answer, csrf: 'x' })).toMatchObject({ status: 403 });
    // A site on another port of this host sends our own Origin in no case, and may have no Origin at all.
    for (const headers of [
      { 'sec-fetch-site': 'same-site' },
      { origin: 'http://127.0.0.1:1' },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      expect(await browser.post(link, answer, { headers })).toMatchObject({ status: 403 });
      expect(await new FakeBrowser().post(link, { do: 'pair', code }, { headers })).toMatchObject({ status: 403 });
    }
    expect(await new FakeBrowser().post(link, { do: 'pair', code }, elsewhere)).toMatchObject({ status: 403 });
    expect(ran).toEqual([]);
  });

  test('takes no cookie of another gateway, and none that was made up', async () => {
    const [one, other] = [await guarded({ name: 'one' }), await guarded({ name: 'other' })];
    await using client = await connected(one.url);
    await client.callTool('wipe');
    const link = await shown(one.links);
    const browser = await paired(other.gateway, `${other.url.replace('/mcp', '/ask')}?t=`);
    const [[, secret]] = [...browser.cookies] as [[string, string]];
    expect((await browser.get(link)).text).toContain('Pair this browser');
    const mine = await paired(one.gateway, link);
    for (const [name] of mine.cookies) mine.cookies.set(name, secret);
    expect((await mine.get(link)).text).toContain('Pair this browser');
  });

  test('wrong codes of others do not keep the right one from working', async () => {
    const { gateway, url, links } = await guarded();
    await using client = await connected(url);
    await client.callTool('wipe');
    const link = await shown(links);
    const { code } = await gateway.pair();
    expect(code).toMatch(/^[2-9A-Z]{4}-[2-9A-Z]{4}-[2-9A-Z]{4}$/);
    const guesser = new FakeBrowser();
    const statuses = [];
    for (let tries = 0; tries < 6; tries++)
      statuses.push((await guesser.post(link, { do: 'pair', code: `AAAA-AAAA-AAA${tries + 2}` })).status);
    expect(statuses).toEqual([403, 403, 403, 403, 429, 429]);
    expect(guesser.cookies.size).toBe(0);
    const person = new FakeBrowser();
    expect((await person.post(link, { do: 'pair', code })).text).toContain('Continue');
    expect(await guesser.post(link, { do: 'pair', code })).toMatchObject({ status: 429 });
  });

  test('a code works once', async () => {
    const { gateway, url, links } = await guarded();
    await using client = await connected(url);
    await client.callTool('wipe');
    const link = await shown(links);
    const { code } = await gateway.pair();
    const [first, second] = [new FakeBrowser(), new FakeBrowser()];
    expect((await first.post(link, { do: 'pair', code: code.toLowerCase().replaceAll('-', ' ') })).text).toContain(
      'Continue',
    );
    expect(await second.post(link, { do: 'pair', code })).toMatchObject({ status: 403 });
  });
});

describe('where users log in', () => {
  const auth = {
    keys: [
      { name: 'ann', key: 'parley_ann-0123456789abcdef' },
      { name: 'bob', key: 'parley_bob-0123456789abcdef' },
    ],
  };
  const as = (user: string) => ({ headers: { authorization: `Bearer parley_${user}-0123456789abcdef` } });

  test('a browser answers for its own user alone', async () => {
    const { gateway, url, ran, links } = await guarded({ auth });
    await using client = await connected({ url, ...as('ann') });
    const { _meta } = await client.callTool('wipe');
    const link = await shown(links);
    for (const user of ['bob', undefined])
      expect((await (await paired(gateway, link, user)).get(link)).text).toContain('Pair this browser');
    const thief = new FakeBrowser();
    thief.headers = as('ann').headers; // the key of the client proves nothing either
    expect((await thief.open(link)).text).toContain('Pair this browser');
    await (await paired(gateway, link, 'ann')).fill(link, { 'q0.0': 'true' });
    const handle = (_meta as Record<string, string>)['mcp-parley/handle'];
    expect([await textOf(client, 'parley_answer', { handle }), ran.length]).toEqual(['wiped', 1]);
  });

  test('the form of a client counts if the operator trusts its key or its user, and no other', async () => {
    for (const trust of [['key:ann'], ['user:ann']] as const) {
      const { url, ran, receipts } = await guarded({ auth, ask: { trust } });
      await using ann = await connected({ url, ...as('ann') }, { onElicit: () => YES });
      expect(await textOf(ann, 'wipe')).toBe('wiped');
      expect(receipts.filter(({ kind }) => kind === 'approval')).toMatchObject([
        { details: { way: 'client', by: trust[0] } },
      ]);
      await using bob = await connected({ url, ...as('bob') }, { onElicit: () => YES });
      expect(await textOf(bob, 'wipe')).toContain('A person has been asked');
      expect(ran.length).toBe(1);
    }
  });
});

describe('what cannot be asked', () => {
  test('is refused, and the refusal says how to pair', async () => {
    const { url, ran, receipts } = await guarded({ ask: { notify: undefined } });
    await using client = await connected(url, { onElicit: () => YES });
    const text = await textOf(client, 'wipe');
    expect(text).toMatch(/was not approved: .*no browser is paired.*parley pair/);
    const [receipt] = receipts.filter(({ kind }) => kind === 'approval');
    expect([ran, receipt]).toMatchObject([
      [],
      { outcome: 'refused', details: { reason: expect.stringContaining('paired') } },
    ]);
  });

  test('what is too long to be shown cannot be approved', async () => {
    const { url, ran, links } = await guarded();
    await using client = await connected(url);
    const text = await textOf(client, 'wipe', { script: 'x'.repeat(70_000) });
    expect(text).toMatch(/was not approved: The question has 70\d\d\d characters/);
    expect([ran, links]).toEqual([[], []]);
  });

  test('a hidden part of an argument is shown on the page, wherever it stands', async () => {
    const { gateway, url, links } = await guarded();
    await using client = await connected(url);
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`a${index}`, index]));
    const evil = { late: `${'x'.repeat(30_000)}LATE`, ...many, token: 'TOKEN', nested: { cookie: 'COOKIE' } };
    const key = ': -----BEGIN PRIVATE KEY-----; curl KEY|sh; : -----END PRIVATE KEY-----';
    await client.callTool('wipe', { ...evil, key });
    const link = await shown(links);
    const { text } = await (await paired(gateway, link)).open(link);
    for (const part of ['LATE', 'a29: 29', 'TOKEN', 'COOKIE', 'curl KEY|sh']) expect(text).toContain(part);
  });
});
