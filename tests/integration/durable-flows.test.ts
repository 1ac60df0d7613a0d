// The flows of examples/durable-flows, played in every channel by clients whose server is killed at one boundary after the other: before and after
// all that it writes, and around every step. Whatever dies, they come to the same result, and nothing is done twice or left undone.
// `PARLEY_BOUNDARIES=all`, as in `npm run test:long`, kills it at every boundary of each channel; otherwise at some.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHANNELS, playIn } from '../helpers/durable-flows/play.ts';
import type { Channel } from '../helpers/durable-flows/play.ts';
import { bundleMortal, startMortal } from '../helpers/durable-flows/mortal.ts';
import type { Mortal, Place } from '../helpers/durable-flows/mortal.ts';
import { startOthers } from '../helpers/durable-flows/others.ts';
import { createWorld } from '../helpers/durable-flows/world.ts';
import type { World } from '../helpers/durable-flows/world.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { hasTool } from '../helpers/tools.ts';
import { until, within } from '../helpers/until.ts';

const isLong = process.env['PARLEY_BOUNDARIES'] === 'all';
const LONG_MS = 60 * 60_000;
/** Of one play, on a machine that is far too busy: one that hangs is named. */
const PLAY_MS = 10 * 60_000;
/** What is played: the flow, and how the name of its player ends. */
const PLAYS = {
  'the migration': ['migrate_tenant', ''],
  'the migration that is refused': ['migrate_tenant', '-no'],
  'the questionnaire': ['questionnaire', ''],
  'the incident': ['handle_incident', ''],
  'the drill, in which nobody answers what can be decided without': ['handle_incident', '-drill'],
} as const;
type PlayName = keyof typeof PLAYS;
const NAMES = Object.keys(PLAYS) as PlayName[];
/** Those of an incident have a part for others than the caller, and two effects at once. */
const INCIDENT = 'handle_incident';
const DRILL: PlayName = 'the drill, in which nobody answers what can be decided without';
/** Where it is played while the server is killed. A client that leaves a question unanswered has to hear from a living server that its time is over. */
function channelsOf(name: PlayName): readonly Channel[] {
  return name === DRILL ? [] : CHANNELS;
}

let redis: RedisServer | undefined;
let program: { program: string } & Disposable;
beforeAll(async () => {
  program = await bundleMortal();
  redis = hasTool('redis-server') ? await startRedis() : undefined;
});
afterAll(async () => {
  program[Symbol.dispose]();
  await redis?.[Symbol.asyncDispose]();
});

const STORES: Record<string, (folder: string) => Place> = {
  SQLite: (folder) => ({ sqlite: { path: join(folder, 'flows.db'), key: 'a key of this test' } }),
  ...(hasTool('redis-server') && { Redis: () => ({ redis: { url: redis!.url } }) }),
};

describe.each(Object.keys(STORES))('in %s', (store) => {
  let world: World;
  let mortal: Mortal;
  let others: AsyncDisposable;
  let count = 0;
  beforeAll(async () => {
    world = await createWorld();
    const { folder, env } = world;
    mortal = await startMortal(program.program, { place: STORES[store]!(folder), folder, env });
    others = startOthers({ url: mortal.url, up: () => mortal.up, changes: () => world.changes() });
  });
  afterAll(async () => {
    await others[Symbol.asyncDispose]();
    await mortal[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  /** What has come of a play, in words that do not depend on whose it was. */
  async function outcomeOf(name: PlayName, channel: Channel): Promise<string> {
    const [tool, end] = PLAYS[name];
    const who = `w${++count}${end}`;
    if (tool !== INCIDENT) world.settle(who);
    const play = { url: mortal.url, tool, who, up: () => mortal.up, down: () => mortal.down() };
    const played = within(`the end of ${name} in the channel ${channel}`, playIn(channel, play), PLAY_MS);
    const result = await played.catch((thrown: unknown) => `failed: ${(thrown as Error).message}`);
    // A client is told why it failed as soon as that is known; everything is taken back after that, the first effect last.
    const isTakenBack = async () => (await world.traces(who)).changes.at(-1) === 'mode normal';
    if (end === '-no') await until(`all to be taken back: ${name}, ${channel}, ${JSON.stringify(result)}`, isTakenBack);
    const { changes, files } = await world.traces(who);
    const ordered = tool === INCIDENT ? changes.toSorted() : changes;
    const told = JSON.stringify({ result, changes: ordered, files }, undefined, 1);
    return told.replaceAll(new RegExp(`\\b${who}\\b(-[\\w-]{43})?`, 'g'), 'WHO');
  }

  test(
    'comes to the same end in every channel, though the server is killed again and again',
    { timeout: LONG_MS },
    async () => {
      const wanted = new Map<PlayName, string>();
      for (const name of NAMES) wanted.set(name, await outcomeOf(name, 'flow'));
      expect(NAMES.map((name) => JSON.parse(wanted.get(name)!) as unknown)).toMatchObject([
        { result: { moved: true, to: 'us' }, changes: ['mode read-only', 'region us', 'mode normal'] },
        { result: 'failed: WHO stays in eu', changes: ['mode read-only', 'mode normal'] },
        { result: { filed: true, weakest: 'people' }, changes: [] },
        {
          result: { done: { api: 'failed over', checkout: 'restarted', search: 'left alone' }, said: 'Sorry for that' },
          changes: [
            ...['fail over api standby', 'page chat', 'restart checkout now'],
            ...['status Sorry for that', 'status investigating', 'watch'],
          ],
          files: ['reports/WHO.log'],
        },
        {
          result: { severity: 'drill', said: 'It is over' },
          changes: [
            ...['fail over api standby', 'page phone', 'restart checkout now'],
            ...['status It is over', 'status investigating', 'watch'],
          ],
        },
      ]);
      const before = mortal.deaths.length;
      let life = 60;
      // Each process lives longer than the one before, so that long flows come to their end as well.
      const next = () => ({ at: (life += 40) });
      await mortal.arm(next(), next);
      const plays = NAMES.flatMap((name) => channelsOf(name).map((channel) => ({ name, channel })));
      const outcomes = await Promise.all(
        plays.map(async ({ name, channel }) => [`${name}: ${channel}`, await outcomeOf(name, channel)] as const),
      );
      const expected = plays.map(({ name, channel }) => [`${name}: ${channel}`, wanted.get(name)]);
      expect(Object.fromEntries(outcomes)).toEqual(Object.fromEntries(expected));
      expect(mortal.deaths.length - before).toBeGreaterThanOrEqual(8);
      await mortal.arm({});
    },
  );

  const channels: readonly Channel[] = isLong ? CHANNELS : ['form'];
  const names = isLong ? NAMES : NAMES.slice(0, 2);
  const plays = names.flatMap((name) =>
    channels.filter((one) => channelsOf(name).includes(one)).map((channel) => ({ name, channel })),
  );
  test.each(plays)(
    'comes to the same end when the server is killed at any boundary: $name, $channel',
    { timeout: LONG_MS },
    async ({ name, channel }) => {
      await mortal.arm({});
      const wanted = await outcomeOf(name, channel);
      const all = await mortal.passed();
      const step = isLong ? 1 : Math.ceil(all / 4);
      for (let at = 1; at <= all; at += step) {
        await mortal.arm({ at });
        expect(await outcomeOf(name, channel), `killed ${mortal.deaths.at(-1)} (${at} of ${all})`).toBe(wanted);
      }
    },
  );
});
