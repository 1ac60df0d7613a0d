// Clients of the official SDKs that answer what nobody has asked them: the attacks of tests/integration/early-answers.test.ts, where these clients can make them.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accept, contentOf, newMark, otherKind, wordsFor } from '../../helpers/early-answers/cell.ts';
import type { Attack, Tool } from '../../helpers/early-answers/cell.ts';
import { FORMS, expired, forms } from '../../helpers/early-answers/forms.ts';
import { bearer, guard, startGuard } from '../../helpers/early-answers/guard.ts';
import type { Who } from '../../helpers/early-answers/guard.ts';
import type { Json } from '../../helpers/http-wire.ts';
import { Wire } from '../../helpers/line-wire.ts';
import { KINDS, connectSdk } from './helpers/sdk-clients.ts';
import type { Kind } from './helpers/sdk-clients.ts';

type User = (params: object) => Promise<{ action: 'accept' | 'decline'; content?: {} }>;

beforeAll(() => startGuard(FORMS));
afterEach(() => guard.settle());
afterAll(async () => guard?.[Symbol.asyncDispose]());

async function connected(kind: Kind, who: Who, user: User) {
  const elicitation = { capability: { form: {} }, answer: user };
  const sdk = await connectSdk(kind, guard.url, { headers: bearer(who), elicitation });
  guard.closing(() => sdk.client.close());
  return sdk;
}

/** Its user never answers; what the test writes goes out by the transport of the client, as if the client had sent it. */
async function wireOf(kind: Kind, who: Who): Promise<Wire> {
  const { transport } = await connected(kind, who, () => new Promise(() => {}));
  const own = transport.onmessage as (message: unknown, extra: unknown) => void;
  let arrived: Promise<unknown> = Promise.resolve();
  const wire = new Wire((text) => {
    const message = JSON.parse(text) as Json;
    const sent = arrived.then(() => transport.send(message as never));
    if (message['method'] === undefined || message['id'] === undefined) arrived = sent;
  });
  transport.onmessage = (message: unknown, extra?: unknown): void => {
    wire.take(JSON.stringify(message));
    own(message, extra);
  };
  return wire;
}

describe.each(KINDS.filter((kind) => !kind.includes('2026')))('%s, a client with a session', (kind) => {
  const { tools, honest, attacks } = forms(
    (who) => wireOf(kind, who),
    () => wireOf(kind, 'bob'),
  );

  it.each(tools)('%s is done if it is allowed as it should be', async (tool) => {
    const [mark] = await honest!(tool);
    expect(guard.deeds(mark)).toBe(1);
  });

  const cells = tools.flatMap((tool) => Object.keys(attacks).map((attack) => ({ tool, attack: attack as Attack })));
  it.each(cells)('$tool: an answer $attack', async ({ tool, attack }) => {
    const { never, once = [], told } = await attacks[attack]!(tool);
    expect(never.map((mark) => guard.deeds(mark))).toEqual(never.map(() => 0));
    expect(once.map((mark) => guard.deeds(mark))).toEqual(once.map(() => 1));
    for (const one of told) expect(wordsFor(one)).not.toBe('');
  });
});

/** A client that declines at once is asked on the page from then on, so a no is a no in the form. */
const says =
  (tool: Tool, value: boolean): User =>
  async () => ({ action: 'accept', content: contentOf(tool, value) });
const TOOLS: Tool[] = ['wipe', 'ship'];
const eachOf = KINDS.flatMap((kind) => TOOLS.map((tool) => ({ kind, tool })));

it.each(eachOf)('$kind: a yes counts if its form is trusted, and only then ($tool)', async ({ kind, tool }) => {
  const [mine, bobs] = [newMark(), newMark()];
  const [ann, bob] = [await connected(kind, 'ann', says(tool, true)), await connected(kind, 'bob', says(tool, true))];
  expect(await ann.call(tool, { mark: mine })).toContain('done');
  expect(await bob.call(tool, { mark: bobs })).toContain('A person has been asked');
  expect([guard.deeds(mine), guard.deeds(bobs)]).toEqual([1, 0]);
});

describe('SDK v2, 2026-07-28', () => {
  const kind = 'SDK v2, 2026-07-28';

  /** The message with the answer, which is kept back from the gateway. */
  async function answered(tool: Tool, isSent = false) {
    const mark = newMark();
    const sdk = await connected(kind, 'ann', says(tool, true));
    const { transport } = sdk;
    const send = transport.send.bind(transport);
    const kept = new Promise<Json>((resolve) => {
      transport.send = async (message, options) => {
        const { params } = message as { params?: Json };
        const isAnswer = params?.['inputResponses'] !== undefined;
        if (isAnswer) resolve(message as Json);
        if (!isAnswer || isSent) await send(message, options);
      };
    });
    const done = sdk.call(tool, { mark }).catch((error: Error) => error.message);
    const early = done.then((said) => Promise.reject(new Error(`not asked: ${said}`)));
    return { mark, retry: await Promise.race([kept, early]), done };
  }

  /** Sends it as a request of its own, and waits for the answer. */
  async function again(who: Who, { params }: Json): Promise<unknown> {
    const { client } = await connected(kind, who, says((params as { name: Tool }).name, false));
    return callWith(client, params as Json).catch((error: Error) => error.message);
  }

  /** With members that the types of the SDK do not have. */
  const callWith = (client: object, params: Json): Promise<unknown> =>
    (client as { callTool(params: Json): Promise<unknown> }).callTool(params);

  it.each(TOOLS)('%s: an answer before its question', async (tool) => {
    const mark = newMark();
    let asked = 0;
    const user = says(tool, false);
    const { client } = await connected(kind, 'ann', (params) => {
      asked++;
      return user(params);
    });
    const guessed = Object.fromEntries(['approve', 'sure', 'sure~1', 'ask-1'].map((key) => [key, accept(tool)]));
    await callWith(client, { name: tool, arguments: { mark }, inputResponses: guessed });
    expect([asked, guard.deeds(mark)]).toEqual([1, 0]);
  });

  it.each(TOOLS)('%s: an answer twice', async (tool) => {
    const { mark, retry, done } = await answered(tool, true);
    expect(await done).toContain('done');
    await again('ann', retry);
    expect(guard.deeds(mark)).toBe(1);
  });

  it.each(TOOLS)('%s: an answer from another user', async (tool) => {
    const { mark, retry } = await answered(tool);
    await again('bob', retry);
    expect(guard.deeds(mark)).toBe(0);
    await again('ann', retry); // the same message is good in the right hands
    expect(guard.deeds(mark)).toBe(1);
  });

  it('an answer after its question has expired', async () => {
    const { mark, retry } = await answered('burn');
    await expired();
    await again('ann', retry);
    expect(guard.deeds(mark)).toBe(0);
  });

  it.each(TOOLS)('%s: an answer for another question', async (tool) => {
    const [first, second] = [await answered(tool), await answered(otherKind(tool))];
    const { inputResponses } = first.retry['params'] as Json;
    await again('ann', { params: { ...(second.retry['params'] as Json), inputResponses } });
    expect([guard.deeds(first.mark), guard.deeds(second.mark)]).toEqual([0, 0]);
  });
});
