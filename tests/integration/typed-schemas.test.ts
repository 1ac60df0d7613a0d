// Schemas of a library where a program of the user meets others: what a tool returns, what a form asks, what a caller gets. `tsc` checks the lines
// marked with @ts-expect-error.
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { connect } from '../../src/sdk/client/connect.ts';
import type { Client } from '../../src/sdk/client/client.ts';
import type { ConnectOptions } from '../../src/sdk/client/types.ts';
import { createLog } from '../../src/kernel/base/log.ts';
import { createServer } from '../../src/sdk/server/create-server.ts';
import type { ParleyServer } from '../../src/sdk/server/create-server.ts';

const log = createLog({ level: 'silent' });
const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

async function serve(add: (server: ParleyServer) => void, options: ConnectOptions = {}): Promise<Client> {
  const server = createServer({ name: 's', version: '1.0.0', log });
  add(server);
  open.push(server);
  const { url } = await server.listen({ port: 0 });
  const client = await connect({ url }, { log, ...options });
  open.push(client);
  return client;
}

const weather = z.object({ celsius: z.number(), at: z.string().transform((text) => new Date(text)) });
const answer = z.object({ celsius: z.number() });

describe('the output schema of a tool', () => {
  it('checks what a handler returns before the program runs, whole results included', async () => {
    const client = await serve((server) => {
      server.tool('good', { output: answer }, () => ({ celsius: 7 }));
      server.tool('late', { output: answer }, async () => ({ celsius: 8 }));
      server.tool('failed', { output: answer }, () => ({ content: [{ type: 'text', text: 'no' }], isError: true }));
      // @ts-expect-error celsius must be a number
      server.tool('bad', { output: answer }, () => ({ celsius: 'warm' }));
      // @ts-expect-error an object is required
      server.tool('nothing', { output: answer }, () => undefined);
      server.tool('plain', { output: { type: 'object' } }, () => ({ anything: [1] }));
      server.tool('untyped', {}, () => 'a text');
    });
    expect((await client.callTool('good')).structuredContent).toEqual({ celsius: 7 });
    expect((await client.callTool('late')).structuredContent).toEqual({ celsius: 8 });
    expect((await client.callTool('failed')).isError).toBe(true);
    await expect(client.callTool('bad')).rejects.toThrow();
    expect((await client.callTool('plain')).structuredContent).toEqual({ anything: [1] });
  });
});

describe('the schema of a form', () => {
  const form = z.object({
    city: z.string().min(2).describe('Where to'),
    email: z.email().optional(),
    nights: z.int().min(1).default(1),
    class: z.enum(['first', 'second']),
  });

  it('can be one of a library, which gives the answer its type, in both eras', async () => {
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const asked: unknown[] = [];
      const client = await serve(
        (server) =>
          server.tool('book', {}, async (_, call) => {
            const given = await call.ask.elicit({ message: 'Where?', schema: form });
            if (given.action !== 'accept') return 'nothing';
            expectTypeOf(given.content).toEqualTypeOf<z.output<typeof form>>();
            return JSON.stringify(given.content);
          }),
        {
          revision,
          onElicit: (request) => {
            asked.push(request);
            return { action: 'accept', content: { city: 'Oslo', class: 'second' } };
          },
        },
      );
      const { content } = await client.callTool('book');
      expect(content).toMatchObject([{ text: '{"city":"Oslo","nights":1,"class":"second"}' }]);
      const [{ requestedSchema }] = asked as [
        { requestedSchema: { properties: Record<string, object>; required: string[] } },
      ];
      expect(Object.keys(requestedSchema).toSorted()).toEqual(['properties', 'required', 'type']);
      expect(requestedSchema.required).toEqual(['city', 'class']);
      expect(requestedSchema.properties.city).toEqual({ type: 'string', minLength: 2, description: 'Where to' });
      expect(requestedSchema.properties.email).toEqual({ type: 'string', format: 'email' });
    }
  });

  it('refuses an answer that a rule of its author forbids, and lets the server live', async () => {
    const rule = z.object({ from: z.string(), to: z.string() }).refine(({ from, to }) => from !== to, 'must differ');
    const thrown = z.object({
      a: z.string().refine(() => {
        throw new Error('a defect');
      }),
    });
    const client = await serve(
      (server) => {
        server.tool('ruled', {}, async (_, call) =>
          JSON.stringify(await call.ask.elicit({ message: '?', schema: rule })),
        );
        server.tool('thrown', {}, async (_, call) =>
          JSON.stringify(await call.ask.elicit({ message: '?', schema: thrown })),
        );
        server.tool('deep', {}, async (_, call) =>
          JSON.stringify(await call.ask.elicit({ message: '?', schema: z.object({ a: z.object({ b: z.string() }) }) })),
        );
        server.tool('list', {}, async (_, call) =>
          JSON.stringify(await call.ask.elicit({ message: '?', schema: z.string() })),
        );
        server.tool('ok', {}, () => 'ok');
      },
      { onElicit: () => ({ action: 'accept', content: { from: 'a', to: 'a', a: 'x' } }) },
    );
    for (const tool of ['ruled', 'thrown', 'deep', 'list']) {
      const { isError } = await client.callTool(tool).catch(() => ({ isError: true }));
      expect(isError, tool).toBe(true);
    }
    expect((await client.callTool('ok')).content).toMatchObject([{ text: 'ok' }]);
  });

  it('an answer that is declined has no content, whatever the schema', async () => {
    const client = await serve(
      (server) =>
        server.tool('book', {}, async (_, call) => (await call.ask.elicit({ message: '?', schema: form })).action),
      { onElicit: () => ({ action: 'decline' }) },
    );
    expect((await client.callTool('book')).content).toMatchObject([{ text: 'decline' }]);
  });
});

describe('the schema of a call', () => {
  it('checks the structured content, gives it its type, and refuses what does not fit', async () => {
    const client = await serve((server) => {
      server.tool('now', {}, () => ({ celsius: 7, at: '2026-11-19T00:00:00Z' }));
      server.tool('odd', {}, () => ({ celsius: 'warm' }));
      server.tool('failed', {}, () => ({ content: [{ type: 'text', text: 'no' }], isError: true }));
    });
    const { structuredContent } = await client.callTool('now', {}, { output: weather });
    expectTypeOf(structuredContent!.at).toEqualTypeOf<Date>();
    expect(structuredContent!.at.getUTCFullYear()).toBe(2026);
    expect((await client.callTool('now', {}, { output: weather })).structuredContent).toEqual(structuredContent);
    await expect(client.callTool('odd', {}, { output: weather })).rejects.toMatchObject({ code: 'UPSTREAM_INVALID' });
    expect(await client.callTool('failed', {}, { output: weather })).toMatchObject({ isError: true });
  });
});
