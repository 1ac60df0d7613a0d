// The language of a session is what its client says when it starts one, and stays.
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import { flow, msg, serveFlows } from 'mcp-parley/flow';
import { connected } from '../helpers/fixture-server.ts';
import { socketWire } from '../helpers/line-wire.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const messages = { en: { where: 'Where to?' }, de: { where: 'Wohin?' } };
const trip = flow({ name: 'trip', messages }, async (ask) => {
  await ask.text('city', { message: msg('where'), alone: true });
  await ask.text('hotel', { message: msg('where'), alone: true });
  return String(ask.locale);
});
const log = createLog({ level: 'silent' });

function trips() {
  const server = createServer({ name: 'trips', version: '1', log });
  serveFlows(server, [trip]);
  return server;
}

async function listening(served: {
  listen(options: { port: number }): Promise<{ url: string }>;
  close(): Promise<void>;
}): Promise<string> {
  const { url } = await served.listen({ port: 0 });
  closing.push(() => served.close());
  return url;
}

const META = 'mcp-parley/locale';
const call = (locale?: string) => ({
  name: 'trip',
  arguments: {},
  ...(locale !== undefined && { _meta: { [META]: locale } }),
});

async function played(url: string, revision: string, { header, locale }: { header?: string; locale?: string }) {
  const asked: string[] = [];
  const onElicit = ({ message }: { message: string }) => {
    asked.push(message);
    return { action: 'accept' as const, content: { city: 'Oslo', hotel: 'Bristol' } };
  };
  const headers: Record<string, string> = header === undefined ? {} : { 'accept-language': header };
  await using client = await connected({ url, headers }, { revision, onElicit });
  const { content } = await client.request('tools/call', call(locale));
  return [...asked, (content as { text: string }[])[0]!.text];
}

test.each(['2025-06-18', '2026-07-28'])('a call says it in _meta, or by Accept-Language: %s', async (revision) => {
  const url = await listening(trips());
  expect(await played(url, revision, {})).toEqual(['Where to?', 'Where to?', 'undefined']);
  expect(await played(url, revision, { locale: 'de-at' })).toEqual(['Wohin?', 'Wohin?', 'de-AT']);
  expect(await played(url, revision, { header: 'de-CH, en;q=0.5' })).toEqual(['Wohin?', 'Wohin?', 'de-CH']);
  expect(await played(url, revision, { header: 'de', locale: 'en-GB' })).toEqual(['Where to?', 'Where to?', 'en-GB']);
  await expect(played(url, revision, { locale: 'no such thing' })).rejects.toMatchObject({ code: -32602 });
});

test('a call through a gateway says it too', async () => {
  const url = await listening(createGateway({ servers: { trips: trips() }, log }));
  expect(await played(url, '2025-06-18', { locale: 'de' })).toEqual(['Wohin?', 'Wohin?', 'de']);
  expect(await played(url, '2025-06-18', { header: 'de' })).toEqual(['Wohin?', 'Wohin?', 'de']);
});

test.each([
  ['2025-06-18', 1],
  ['2026-07-28', 1],
  ['2026-07-28', 2],
])('Accept-Language of a client of %s passes %s gateways', async (revision, gateways) => {
  let url = await listening(trips());
  for (let count = 0; count < gateways; count++)
    url = await listening(createGateway({ servers: { trips: { url } }, log, startMs: 60_000 }));
  expect(await played(url, revision, { header: 'fr;q=0.4, de-CH' })).toEqual(['Wohin?', 'Wohin?', 'de-CH']);
  expect(await played(url, revision, { header: 'de', locale: 'en' })).toEqual(['Where to?', 'Where to?', 'en']);
  const { wire, socket } = await socketWire(Number(new URL(url).port), { 'accept-language': 'de' });
  closing.push(() => socket.close());
  await wire.initialize();
  const started = await wire.request('interaction.start', { toolName: 'trip' });
  expect(started.result).toMatchObject({ initialPrompt: { message: 'Wohin?' } });
});

test('a client that speaks MCP Flow says it when it starts', async () => {
  const url = await listening(trips());
  const { wire, socket } = await socketWire(Number(new URL(url).port));
  closing.push(() => socket.close());
  await wire.initialize();
  const started = await wire.request('interaction.start', { toolName: 'trip', _meta: { [META]: 'de' } });
  expect(started.result).toMatchObject({ initialPrompt: { message: 'Wohin?' } });
});
