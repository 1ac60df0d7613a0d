// The sessions of a gateway are the same at all of its ports, and at no other gateway.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGateway } from 'mcp-parley';
import type { Gateway } from 'mcp-parley';
import { send } from '../helpers/http-wire.ts';
import { openSession, rpc } from '../helpers/mcp-http.ts';
import { startStorm } from '../helpers/server-process.ts';
import type { ServerProcess } from '../helpers/server-process.ts';

let storm: ServerProcess;
beforeAll(async () => {
  storm = await startStorm();
});
afterAll(() => storm[Symbol.asyncDispose]());

const KEYS = ['a key that all gateways of this test share'];

function makeGateway(): Gateway {
  return createGateway({ servers: { storm: storm.url }, names: 'on-collision', keys: KEYS });
}

test('a session that was opened at one port of a gateway is used and deleted at another', async () => {
  const gateway = makeGateway();
  const [one, other] = [await gateway.listen({ port: 0 }), await gateway.listen({ port: 0 })];
  try {
    const session = await openSession(one.url);
    const there = (body: object) => send(other.url, { headers: session.headers, body: JSON.stringify(body) });
    expect((await there(rpc('ping'))).json).toHaveProperty('result');
    expect((await send(other.url, { method: 'DELETE', headers: session.headers })).status).toBe(204);
    expect([(await session.request('ping')).status, (await there(rpc('ping'))).status]).toEqual([404, 404]);
  } finally {
    await gateway.close();
  }
});

test('closing one port leaves the sessions of the others alone, and a later port begins with none', async () => {
  const gateway = makeGateway();
  try {
    const [one, other] = [await gateway.listen({ port: 0 }), await gateway.listen({ port: 0 })];
    const session = await openSession(one.url);
    await one.close();
    const { headers } = session;
    expect((await send(other.url, { headers, body: JSON.stringify(rpc('ping')) })).status).toBe(200);
    await other.close();
    const third = await gateway.listen({ port: 0 });
    expect((await send(third.url, { headers, body: JSON.stringify(rpc('ping')) })).status).toBe(404);
    expect((await (await openSession(third.url)).request('ping')).status).toBe(200);
  } finally {
    await gateway.close();
  }
});

test('a deleted session is unknown at every gateway with the same keys', async () => {
  const gateways = [makeGateway(), makeGateway()];
  const [one, other] = await Promise.all(gateways.map((gateway) => gateway.listen({ port: 0 })));
  try {
    const session = await openSession(one!.url);
    expect((await session.delete()).status).toBe(204);
    for (const url of [one!.url, other!.url]) {
      const { status } = await send(url, { headers: session.headers, body: JSON.stringify(rpc('ping')) });
      expect(status).toBe(404);
    }
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.close()));
  }
});
