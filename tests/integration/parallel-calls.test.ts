// Calls of a client that cannot be asked run side by side, as if there were no gateway: the server answers none of them before
// all have reached it, so a gateway that made one wait for another would never come to an end.
import { describe, expect, test } from 'vitest';
import { bridge, PAIRS } from '../helpers/bridge.ts';
import { textOf } from '../helpers/fixture-server.ts';

const COUNT = 64;
const TOGETHER = Array.from({ length: COUNT }, () => `together with ${COUNT - 1}`);

describe.each(PAIRS)('client $client, server $server over $upstream', (pair) => {
  test(`${COUNT} slow calls of one client, and of many, are all under way at once`, async () => {
    await using between = await bridge(pair);
    const one = await between.connect();
    const calls = Array.from({ length: COUNT }, () => textOf(one, 'gather', { count: COUNT }));
    expect(await Promise.all(calls)).toEqual(TOGETHER);
    const many = [one, ...(await Promise.all([1, 2, 3].map(() => between.connect())))];
    const spread = Array.from({ length: COUNT }, (_, index) => textOf(many[index % 4]!, 'gather', { count: COUNT }));
    expect(await Promise.all(spread)).toEqual(TOGETHER);
  });
});
