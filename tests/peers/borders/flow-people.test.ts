// A flow asks another person, between official clients: one makes the call, and the other's own client shows the form at any
// time, although it has made no call.
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog, createServer } from '../../../src/_entries/index.ts';
import type { ParleyServer } from '../../../src/_entries/index.ts';
import { flow, serveFlows } from '../../../src/_entries/flow.ts';

const WHO = { name: 'borders', version: '1.0.0' };
const FORMS = { capabilities: { elicitation: { form: {} } } };
type Show = (message: string) => { action: 'accept'; content: Record<string, string> };

const headersOf = (user: string) => ({ requestInit: { headers: { 'x-user': user } } });

/** The client of the person who is asked. */
const PEOPLE = {
  async 'SDK v1'(url: string, user: string, show: Show) {
    const client = new ClientV1(WHO, FORMS);
    client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => show(params.message));
    await client.connect(new TransportV1(new URL(url), headersOf(user)));
    return client;
  },
  async 'SDK v2, handshake'(url: string, user: string, show: Show) {
    const client = new ClientV2(WHO, { ...FORMS, versionNegotiation: { mode: 'legacy' } });
    client.setRequestHandler('elicitation/create', ({ params }) => show(params.message));
    await client.connect(new TransportV2(new URL(url), headersOf(user)));
    return client;
  },
};

/** The client of the caller, with what it was told by progress. */
const CALLERS = {
  async 'SDK v1'(url: string, user: string, told: string[]) {
    const client = new ClientV1(WHO, {});
    await client.connect(new TransportV1(new URL(url), headersOf(user)));
    const onprogress = ({ message = '' }: { message?: string }) => void told.push(message);
    const options = { onprogress, timeout: 60_000 };
    const call = (args: object) => client.callTool({ name: 'review', arguments: { ...args } }, undefined, options);
    return { call, close: () => client.close() };
  },
  async 'SDK v2, 2026-07-28'(url: string, user: string, told: string[]) {
    const client = new ClientV2(WHO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new TransportV2(new URL(url), headersOf(user)));
    const onprogress = ({ message = '' }: { message?: string }) => void told.push(message);
    const options = { onprogress, timeout: 60_000 };
    const call = (args: object) => client.callTool({ name: 'review', arguments: { ...args } }, options);
    return { call, close: () => client.close() };
  },
};

const review = flow({ name: 'review', limits: { duration: '1d' } }, async (ask) => {
  const reviewer = await ask.text('reviewer');
  return `${reviewer}: ${await ask.person(reviewer).text('word', { message: `A word, ${reviewer}?` })}`;
});

let server: ParleyServer;
let url: string;
beforeAll(async () => {
  const identify = ({ headers }: { headers: Record<string, unknown> }) =>
    (headers['x-user'] as string | undefined) ?? null;
  server = createServer({ name: 'reviews', version: '1', log: createLog({ level: 'silent' }), identify });
  serveFlows(server, [review]);
  ({ url } = await server.listen({ port: 0 }));
});
afterAll(() => server.close());

describe.each(Object.keys(PEOPLE) as (keyof typeof PEOPLE)[])('somebody with an %s client', (person) => {
  test.each(Object.keys(CALLERS) as (keyof typeof CALLERS)[])(
    'is shown the form of a flow that an %s client has called; of two at once each gets their own',
    async (caller) => {
      const shown: Record<string, string[]> = { bea: [], cem: [] };
      const show =
        (user: string): Show =>
        (message) => {
          shown[user].push(message);
          return { action: 'accept', content: { word: `${user} says yes` } };
        };
      const people = await Promise.all(['bea', 'cem'].map((user) => PEOPLE[person](url, user, show(user))));
      const told: string[][] = [[], []];
      const callers = await Promise.all(['ada', 'ben'].map((user, index) => CALLERS[caller](url, user, told[index])));
      const results = await Promise.all([callers[0].call({ reviewer: 'bea' }), callers[1].call({ reviewer: 'cem' })]);
      expect(results).toMatchObject([
        { content: [{ text: 'bea: bea says yes' }] },
        { content: [{ text: 'cem: cem says yes' }] },
      ]);
      const words = (user: string) =>
        `The tool review, which another person called, asks you as ${user}.\nA word, ${user}?`;
      expect(shown).toEqual({ bea: [words('bea')], cem: [words('cem')] });
      expect(told.map(([line]) => line)).toEqual(['Waiting for bea', 'Waiting for cem']);
      for (const one of [...people, ...callers]) await one.close();
    },
  );
});
