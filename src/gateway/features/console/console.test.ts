// The console over HTTP: who is let in, what they see, and whose answers count. Browsers are played by requests; tests/browser/console has real ones.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect } from '../../../sdk/client/connect.ts';
import { pairingFileIn } from '../../../people/trust/pairings.ts';
import { pairingsInFile } from '../../../people/trust/pairing-store.ts';
import { Paired, clientOf, closing, redeem, start } from './paired-browser.contract.ts';

describe('the root of a gateway', () => {
  it('is a page with a strict policy for browsers, and what it was for programs', async () => {
    const { root } = await start({ auth: { keys: [{ name: 'ci', key: 'k'.repeat(40) }] } });
    const page = await fetch(root, { headers: { accept: 'text/html,*/*' } });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
    const policy = page.headers.get('content-security-policy')!;
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ])
      expect(policy).toContain(part);
    expect(policy).not.toContain('unsafe');
    const program = await fetch(root, { headers: { accept: 'application/json' } });
    expect(program.status).toBe(401);
    expect(await program.json()).toMatchObject({ jsonrpc: '2.0', error: {} });
  });

  it('has no page without the console, nor inside of another HTTP server', async () => {
    const off = await start({ console: false });
    expect((await fetch(off.root, { headers: { accept: 'text/html' } })).status).toBe(404);
    const { gateway } = await start();
    const inside = await gateway
      .endpoint()
      .fetch(new Request('http://localhost/', { headers: { accept: 'text/html', host: 'localhost' } }));
    expect(inside.status).toBe(404);
  });
});

describe('the way into the console', () => {
  it('a code lets one browser in, once, and its cookie is for paths that no other port knows', async () => {
    const { gateway, root } = await start();
    const { code } = await gateway.pair();
    const first = await redeem(root, code);
    const { key } = (await first.json()) as { key: string };
    const cookies = first.headers.getSetCookie();
    expect(cookies.map((one) => /Path=([^;]+)/.exec(one)![1])).toEqual([`/console/api/${key}`, `/ask/${key}`]);
    for (const cookie of cookies) expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    expect((await redeem(root, code)).status).toBe(403);
    expect((await fetch(`${root}console/api/${key}/now`)).status).toBe(401);
    expect(
      (await fetch(`${root}console/api/other/now`, { headers: { cookie: cookies[0]!.split(';')[0]! } })).status,
    ).toBe(401);
  });

  it('a code that another origin sends lets nobody in, and still works', async () => {
    const { gateway, root } = await start();
    const { code } = await gateway.pair();
    expect((await redeem(root, code, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await redeem(root, code, { origin: 'http://127.0.0.1:1' })).status).toBe(403);
    expect((await redeem(root, code)).status).toBe(200);
  });

  it('a browser that is removed sees nothing any more, and its stream ends', async () => {
    const stateFolder = mkdtempSync(join(tmpdir(), 'parley-console-'));
    closing.push(async () => rmSync(stateFolder, { recursive: true, force: true }));
    const { gateway, root } = await start({ stateFolder });
    const browser = new Paired(root);
    await browser.enter(gateway);
    const headers = { cookie: browser.cookie };
    const stream = await fetch(`${browser.api}events`, { headers });
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const file = pairingFileIn(stateFolder);
    await pairingsInFile(file).update((latest) => ({ next: { ...latest, browsers: [] }, done: undefined }));
    expect(await stream.text()).toContain('event: now');
    expect((await fetch(`${browser.api}now`, { headers })).status).toBe(401);
  });

  it('a gateway that closes does not wait for browsers that look', async () => {
    const { gateway, root } = await start();
    const browser = new Paired(root);
    await browser.enter(gateway);
    const stream = await fetch(`${browser.api}events`, { headers: { cookie: browser.cookie } });
    const text = stream.text();
    await gateway.close();
    expect(await text).toContain('event: now'); // ended, and not cut
  });

  it('a program of the operator reads everything as JSON, answers nothing, and others are refused', async () => {
    const keys = [
      { name: 'ops', key: 'o'.repeat(40), scopes: ['admin', 'mcp'] },
      { name: 'ci', key: 'k'.repeat(40), scopes: ['mcp'] },
    ];
    const { root } = await start({ auth: { keys } });
    const as = (key: string) => ({ headers: { authorization: `Bearer ${key.repeat(40)}` } });
    const now = await fetch(`${root}console/api/now`, as('o'));
    expect(await now.json()).toMatchObject({ viewer: { isOperator: true, way: 'token' }, servers: [{ name: 'disk' }] });
    expect((await fetch(`${root}console/api/now`, as('k'))).status).toBe(403);
    expect((await fetch(`${root}console/api/now`)).status).toBe(401);
    expect((await fetch(`${root}console/api/answer`, { method: 'POST', ...as('o') })).status).toBe(405);
  });
});

describe('questions in the console', () => {
  it('every argument is shown, and yes and no reach the call, once', async () => {
    const { gateway, url, root, ran } = await start();
    const client = await clientOf(url);
    const browser = new Paired(root);
    await browser.enter(gateway);
    await client.callTool('wipe', { what: 'disk', token: 'whole' });
    const { questions } = await browser.now();
    expect(questions).toMatchObject([{ tool: 'wipe', isTheirs: true, questions: [{ isConfirm: true, hint: null }] }]);
    expect(questions[0]!.questions[0]!.message).toContain('what: "disk"\ntoken: "whole"');
    expect(await browser.say(questions[0]!.handle, 'perhaps')).toBe(422);
    expect(ran).toEqual([]);
    expect(await browser.say(questions[0]!.handle, 'yes')).toBe(200);
    expect(await browser.say(questions[0]!.handle, 'yes')).toBe(409);
    const { content } = await client.callTool('parley_answer', { handle: questions[0]!.handle });
    expect(content).toMatchObject([{ text: 'wiped' }]);
    expect(ran).toEqual(['disk']);
    expect((await browser.now()).questions).toEqual([]);
  });

  it('an answer counts only from our own page: not from another origin, another site or without the cookie', async () => {
    const { gateway, url, root, ran } = await start();
    const client = await clientOf(url);
    const browser = new Paired(root);
    await browser.enter(gateway);
    await client.callTool('wipe', { what: 'disk' });
    const { handle } = (await browser.now()).questions[0]!;
    expect(await browser.say(handle, 'yes', { origin: 'http://127.0.0.1:1' })).toBe(403);
    expect(await browser.say(handle, 'yes', { 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await browser.say(handle, 'yes', { 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await browser.say(handle, 'yes', { cookie: '' })).toBe(401);
    expect((await browser.now()).questions).toHaveLength(1);
    expect(ran).toEqual([]);
  });

  it('where callers log in, the operator sees the call of a user, and only that user answers it', async () => {
    const keys = [
      { name: 'laptop', user: 'alice', key: 'a'.repeat(40) },
      { name: 'desk', user: 'bob', key: 'b'.repeat(40) },
    ];
    const { gateway, url, root, ran } = await start({ auth: { keys } });
    const alice = await clientOf(url, { authorization: `Bearer ${'a'.repeat(40)}` });
    const browsers = { operator: new Paired(root), alice: new Paired(root), bob: new Paired(root) };
    await browsers.operator.enter(gateway);
    await browsers.alice.enter(gateway, 'alice');
    await browsers.bob.enter(gateway, 'bob');
    await alice.callTool('wipe', { what: 'disk' });
    expect((await browsers.bob.now()).questions).toEqual([]);
    expect((await browsers.bob.now()).clients).toEqual([]);
    const [seen] = (await browsers.operator.now()).questions;
    expect(seen).toMatchObject({ isTheirs: false, user: 'key:alice', link: null });
    expect(await browsers.operator.say(seen!.handle, 'yes')).toBe(403);
    expect(await browsers.bob.say(seen!.handle, 'yes')).toBe(403);
    expect(ran).toEqual([]);
    const own = await browsers.alice.now();
    expect(own).toMatchObject({
      viewer: { isOperator: false },
      gateway: { pid: null },
      questions: [{ isTheirs: true }],
    });
    expect(await browsers.alice.say(seen!.handle, 'no')).toBe(200);
    const { content } = await alice.callTool('parley_answer', { handle: seen!.handle });
    expect(JSON.stringify(content)).toContain('the user said no');
  });

  it('a name that hides something is shown with what it hides', async () => {
    const { gateway, url, root } = await start();
    const client = await connect({ url }, { name: 'nice\u202eevil\u0007' });
    closing.push(() => client.close());
    const browser = new Paired(root);
    await browser.enter(gateway);
    await client.callTool('wipe', { what: 'a\u202eb' });
    const { questions } = await browser.now();
    expect(questions[0]!.client).toBe('nice\\u{202e}evil\\u{7}');
    expect(questions[0]!.questions[0]!.message).toContain('a\\u{202e}b');
  });
});
