// A method that no row of the method table knows is judged, counted and recorded like any other: nothing passes because nobody has heard of it.
import { expect, it } from 'vitest';
import type { AuditEvent } from '../kernel/audit.ts';
import { createServer } from '../sdk/server/create-server.ts';
import { connect } from '../sdk/client/connect.ts';
import { createGateway } from './gateway.ts';

const METHOD = 'acme/run';

async function asked(options: Partial<Parameters<typeof createGateway>[0]>, times: number) {
  const events: AuditEvent[] = [];
  const desk = createServer({ name: 'desk', version: '1' });
  desk.tool('say', {}, () => 'said');
  const gateway = createGateway({
    servers: { desk },
    audit: (event) => events.push(event),
    observe: { metrics: true },
    ...options,
  });
  const { url, port } = await gateway.listen({ port: 0 });
  const client = await connect(url);
  const codes: unknown[] = [];
  for (let time = 0; time < times; time++) {
    codes.push(await client.request(METHOD, {}).catch((error: Error) => error.message));
  }
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  await client.close();
  await gateway.close();
  return { codes, metrics, calls: events.filter(({ method }) => method === METHOD).map(({ outcome }) => outcome) };
}

it('a method without a row is refused by rules, recorded with that, and counted', async () => {
  const { codes, calls, metrics } = await asked({ rules: [{ tool: '*', effect: 'allow' }] }, 1);
  expect(codes).toEqual([expect.stringContaining('A rule of the gateway forbids')]);
  expect(calls).toEqual(['FORBIDDEN_BY_RULE']);
  expect(metrics).toMatch(/method="other"[^\n]*\} 1/);
});

it('a method without a row counts for the rates of its caller', async () => {
  const { codes, calls } = await asked({ rate: { perCaller: '2/h' } }, 3);
  expect(codes.at(-1)).toContain('2/h');
  expect(calls).toEqual(['METHOD_NOT_FOUND', 'METHOD_NOT_FOUND', 'RATE_LIMITED']);
});
