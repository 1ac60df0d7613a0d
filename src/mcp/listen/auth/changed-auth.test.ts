// What callers have open while `auth` changes: it goes on for those who are still let in by the same key or issuer, and ends for all others.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openStream, send } from '../../../../tests/helpers/http-wire.ts';
import { socketWire } from '../../../../tests/helpers/line-wire.ts';
import { modern, openSession } from '../../../../tests/helpers/mcp-http.ts';
import { until } from '../../../../tests/helpers/until.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { createGateway } from '../../../gateway/gateway.ts';
import type { AuthOptions } from './auth-options.ts';
import { createTestIssuer } from './issuer.contract.ts';

const log = createLog({ level: 'silent' });
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const keyOf = (name: string) => `parley_the-key-of-${name}-0123456789`;
const key = (name: string, more: object = {}) => ({ name, key: keyOf(name), ...more });
const OPENING = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } };

async function serving(auth: AuthOptions) {
  const server = createServer({ name: 'inner', version: '1', log });
  server.tool('echo', {}, ({ text }) => String(text));
  const gateway = createGateway({ servers: { inner: server }, log, auth, names: 'on-collision' });
  closing.push(() => gateway.close());
  const { url, port } = await gateway.listen({ port: 0 });
  return { gateway, url, port };
}

/** A WebSocket, the GET stream of a session, and a stream of HTTP+SSE, all of one caller. */
async function open({ url, port }: { url: string; port: number }, credential: string) {
  const headers = { authorization: `Bearer ${credential}` };
  const { wire } = await socketWire(port, headers);
  await wire.request('initialize', OPENING);
  const session = await openSession(url, { headers });
  const streams = [
    await session.stream(),
    await openStream(url.replace('/mcp', '/sse'), { headers: { ...headers, accept: 'text/event-stream' } }),
  ];
  return {
    streams,
    isOver: () => wire.closed && streams.every(({ ended }) => ended),
    isOpen: () => !wire.closed && streams.every(({ ended }) => !ended),
    call: () => wire.request('tools/call', { name: 'echo', arguments: { text: 'hi' } }),
    status: async () => (await session.request('tools/list')).status,
  };
}

describe('when `auth` changes', () => {
  it('what a removed key has opened ends, and what a kept one has opened goes on until that is removed', async () => {
    const run = await serving({ keys: [key('ann'), key('bob')] });
    const [ann, bob] = [await open(run, keyOf('ann')), await open(run, keyOf('bob'))];
    run.gateway.update({ auth: { keys: [key('carl'), key('ann')] } });
    await until('what bob has opened to end', bob.isOver);
    expect(await bob.status()).toBe(401);
    expect(ann.isOpen()).toBe(true);
    expect(await ann.call()).toMatchObject({ result: { content: [{ text: 'hi' }] } });
    run.gateway.update({ auth: { keys: [key('carl')] } });
    await until('what ann has opened to end', ann.isOver);
    expect(await ann.status()).toBe(401);
  });

  it.each<[string, AuthOptions]>([
    ['may do something else', { keys: [key('ann', { scopes: ['read'] })] }],
    ['has another user', { keys: [key('ann', { user: 'anna' })] }],
    ['was replaced by another key of its name', { keys: [{ name: 'ann', key: keyOf('anna') }] }],
    ['lacks a scope that all need now', { keys: [key('ann')], scopes: ['work'] }],
    ['gives way to an issuer', { keys: [], issuers: ['https://login.example.test'] }],
  ])('what a key has opened ends if it %s', async (_what, auth) => {
    const run = await serving({ keys: [key('ann')] });
    const ann = await open(run, keyOf('ann'));
    run.gateway.update({ auth });
    await until('what ann has opened to end', ann.isOver);
  });

  it('what two changes at once leave is what the last one lets in', async () => {
    const run = await serving({ keys: [key('ann'), key('bob')] });
    const [ann, bob] = [await open(run, keyOf('ann')), await open(run, keyOf('bob'))];
    run.gateway.update({ auth: { keys: [key('bob')] } });
    run.gateway.update({ auth: { keys: [key('ann')] } });
    await until('what bob has opened to end', bob.isOver);
    expect(await bob.status()).toBe(401);
    await until('what ann has opened to end', ann.isOver);
    const again = await open(run, keyOf('ann'));
    expect(await again.call()).toMatchObject({ result: { content: [{ text: 'hi' }] } });
  });

  it('what the token of everybody has opened ends with that token, and goes on where only other things change', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-token-'));
    closing.push(() => rmSync(folder, { recursive: true }));
    const run = await serving({ token: keyOf('all') });
    const nameless = await open(run, keyOf('all'));
    run.gateway.update({ auth: { token: keyOf('all'), keyFile: join(folder, 'api-keys.json') } });
    expect(await nameless.call()).toMatchObject({ result: { content: [{ text: 'hi' }] } });
    expect(nameless.isOpen()).toBe(true);
    run.gateway.update({ auth: { token: keyOf('others') } });
    await until('what the former token has opened to end', nameless.isOver);
    expect(await nameless.status()).toBe(401);
    const others = await open(run, keyOf('others'));
    run.gateway.update({ auth: { token: keyOf('all') } });
    await until('what the second token has opened to end', others.isOver);
    expect(await (await open(run, keyOf('all'))).call()).toMatchObject({ result: { content: [{ text: 'hi' }] } });
  });

  it('an address whose bad tokens were too many waits on', async () => {
    const issuer = await createTestIssuer();
    closing.push(() => issuer.close());
    const run = await serving({ issuers: [issuer.url] });
    const status = async (n: number) => {
      const headers = { authorization: `Bearer bad-${n}` };
      return (
        await send(run.url, { ...modern('tools/list'), headers: { ...modern('tools/list').headers, ...headers } })
      ).status;
    };
    let tries = 0;
    while (tries < 200 && (await status(tries)) === 401) tries++;
    expect(await status(tries)).toBe(429);
    run.gateway.update({ auth: { issuers: [issuer.url], keys: [key('carl')] } });
    expect(await status(tries)).toBe(429);
  });

  it('a change that is refused ends nothing', async () => {
    const run = await serving({ keys: [key('ann')] });
    const ann = await open(run, keyOf('ann'));
    const short = { name: 'short', key: 'x' };
    expect(() => run.gateway.update({ auth: { keys: [short], token: 'x' } })).toThrow();
    expect(await ann.call()).toMatchObject({ result: { content: [{ text: 'hi' }] } });
    expect(ann.isOpen()).toBe(true);
  });

  it('what a token of a removed issuer has opened ends, and what one of a kept issuer has opened goes on', async () => {
    const [kept, gone] = [await createTestIssuer(), await createTestIssuer()];
    closing.push(
      () => kept.close(),
      () => gone.close(),
    );
    const run = await serving({ issuers: [kept.url, gone.url] });
    const ann = await open(run, await kept.token({ aud: run.url }));
    const bob = await open(run, await gone.token({ aud: run.url }));
    run.gateway.update({ auth: { issuers: [kept.url], keys: [key('carl')] } });
    await until('what bob has opened to end', bob.isOver);
    expect(await bob.status()).toBe(401);
    expect(ann.isOpen()).toBe(true);
    expect(await ann.call()).toMatchObject({ result: { content: [{ text: 'hi' }] } });
    run.gateway.update({ auth: { issuers: [{ issuer: kept.url, audience: 'https://other.example.test' }] } });
    await until('what ann has opened to end', ann.isOver);
  });
});
