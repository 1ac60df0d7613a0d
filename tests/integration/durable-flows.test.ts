// The flows of examples/durable-flows, played in every channel by clients whose server is killed at one boundary after the other: before and after
// all that it writes, and around every step, check and undo. Whatever dies, they come to the same result, and nothing is done twice or left undone.
// `PARLEY_BOUNDARIES=all`, as in `npm run test:long`, kills it at every boundary of each channel. With `shared` the channels share the boundaries of
// a play: each has its part of them. Otherwise, as in CI, it is killed at some.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isByTime } from '../helpers/durable-flows/boundaries.ts';
import { renewTable } from '../helpers/durable-flows/boundaries-table.ts';
import type { Hits, Hunt } from '../helpers/durable-flows/killer.ts';
import { CHANNELS, playIn } from '../helpers/durable-flows/play.ts';
import type { Channel } from '../helpers/durable-flows/play.ts';
import { bundleMortal, startMortal } from '../helpers/durable-flows/mortal.ts';
import type { Mortal, Place } from '../helpers/durable-flows/mortal.ts';
import { startOthers } from '../helpers/durable-flows/others.ts';
import { createWorld } from '../helpers/durable-flows/world.ts';
import type { World } from '../helpers/durable-flows/world.ts';
import { hasPostgres, startPostgres } from '../helpers/postgres-server.ts';
import type { PostgresServer } from '../helpers/postgres-server.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { hasTool } from '../helpers/tools.ts';
import { within } from '../helpers/until.ts';

const MODE = process.env['PARLEY_BOUNDARIES'];
const isLong = MODE === 'all' || MODE === 'shared';
const LONG_MS = 60 * 60_000;
/** Of one play, on a machine that is far too busy: one that hangs is named. */
const PLAY_MS = isLong ? LONG_MS : 20 * 60_000;
/** How often it is looked whether all is taken back, by processes that are killed meanwhile. */
const LOOK_MS = 20;
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
/** Killed at random moments only in the long runs, too. */
const DRILL: PlayName = 'the drill, in which nobody answers what can be decided without';
/** Plays until every boundary was hit: two do, unless something happens by itself a moment later than in the play without kills. */
const MOST_ROUNDS = 6;
let redis: RedisServer | undefined;
let postgres: PostgresServer | undefined;
let program: { program: string } & Disposable;
beforeAll(async () => {
  program = await bundleMortal();
  redis = hasTool('redis-server') ? await startRedis() : undefined;
  postgres = hasPostgres() ? await startPostgres() : undefined;
});
afterAll(async () => {
  program[Symbol.dispose]();
  await redis?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

const STORES: Record<string, (folder: string) => Place> = {
  SQLite: (folder) => ({ sqlite: { path: join(folder, 'flows.db'), key: 'a key of this test' } }),
  ...(hasTool('redis-server') && { Redis: () => ({ redis: { url: redis!.url } }) }),
  ...(hasPostgres() && { Postgres: () => ({ postgres: { url: postgres!.url, key: 'a key of this test' } }) }),
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

  const newPlayer = (name: PlayName): string => `w${++count}${PLAYS[name][1]}`;

  /** What has come of a play, in words that do not depend on whose it was. */
  async function outcomeOf(name: PlayName, channel: Channel, who = newPlayer(name)): Promise<string> {
    const [tool, end] = PLAYS[name];
    if (tool !== INCIDENT) world.settle(who);
    const play = { url: mortal.url, tool, who, up: () => mortal.up, down: () => mortal.down() };
    const played = within(`the end of ${name} in the channel ${channel}`, playIn(channel, play), PLAY_MS);
    const result = await played.catch((thrown: unknown) => `failed: ${(thrown as Error).message}`);
    // A client is told why it failed as soon as that is known; everything is taken back after that, the first effect last.
    const takenBack = async (): Promise<void> => {
      while ((await world.traces(who)).changes.at(-1) !== 'mode normal') await delay(LOOK_MS);
    };
    const taking = `all to be taken back: ${name}, ${channel}, ${JSON.stringify(result)}`;
    if (end === '-no') await within(taking, takenBack(), PLAY_MS);
    const { changes, files } = await world.traces(who);
    const ordered = tool === INCIDENT ? changes.toSorted() : changes;
    const told = JSON.stringify({ result, changes: ordered, files }, undefined, 1);
    return told.replaceAll(new RegExp(`\\b${who}\\b(-[\\w-]{43})?`, 'g'), 'WHO');
  }

  // In Redis only in the long runs: one run in seven failed on a busy machine, and it is not shown yet that its cause is mended.
  test.skipIf(store === 'Redis' && !isLong)(
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
            'fail over api standby',
            'page chat',
            'restart checkout now',
            'status Sorry for that',
            'status investigating',
            'watch',
          ],
          files: ['reports/WHO.log'],
        },
        {
          result: { severity: 'drill', said: 'It is over' },
          changes: [
            'fail over api standby',
            'page phone',
            'restart checkout now',
            'status It is over',
            'status investigating',
            'watch',
          ],
        },
      ]);
      const before = mortal.deaths.length;
      let life = 60;
      // Each process lives longer than the one before, so that long flows come to their end as well.
      const next = () => ({ at: (life += 40) });
      await mortal.arm(next(), next);
      const names = NAMES.filter((name) => isLong || name !== DRILL);
      const plays = names.flatMap((name) => CHANNELS.map((channel) => ({ name, channel })));
      const outcomes = await Promise.all(
        plays.map(async ({ name, channel }) => [`${name}: ${channel}`, await outcomeOf(name, channel)] as const),
      );
      const expected = plays.map(({ name, channel }) => [`${name}: ${channel}`, wanted.get(name)]);
      expect(Object.fromEntries(outcomes)).toEqual(Object.fromEntries(expected));
      expect(mortal.deaths.length - before).toBeGreaterThanOrEqual(8);
      await mortal.arm({});
    },
  );

  /** Some plays at once, each in its channel and under a name of its own, and what is to be killed of them. */
  async function playAll(name: PlayName, channels: readonly Channel[], only?: Hits): Promise<Map<Channel, string>> {
    const players = channels.map((channel) => ({ channel, who: newPlayer(name) }));
    const plays = players.map(({ channel, who }) => [who, toPlay(name, channel)]);
    const hunt: Hunt = {
      plays: Object.fromEntries(plays) as Hunt['plays'],
      playing: channels.length,
      ...(only && { only }),
    };
    await mortal.arm({ hunt }, () => ({ hunt }));
    const outcomes = await Promise.all(
      players.map(async ({ channel, who }) => {
        const outcome = await outcomeOf(name, channel, who);
        mortal.goOn(--hunt.playing);
        return [channel, outcome] as const;
      }),
    );
    return new Map(outcomes);
  }

  /** At which boundaries of its plays the server has died. */
  function hitOf(name: PlayName, channel: Channel): Set<string> {
    return new Set(mortal.deaths.flatMap((hits) => hits[toPlay(name, channel)] ?? []));
  }

  const hunted = isLong ? NAMES : NAMES.slice(0, 2);
  test.each(hunted)(
    'comes to the same end when the server is killed at every boundary: %s',
    { timeout: LONG_MS },
    async (name) => {
      const channels: readonly Channel[] = isLong ? CHANNELS : ['form'];
      const wanted = await playAll(name, channels, {});
      const passed = await mortal.passed();
      const all = (channel: Channel): string[] =>
        passed[toPlay(name, channel)]!.filter((boundary) => !isByTime(boundary, { isDrill: name === DRILL }));
      for (const channel of channels) expect(all(channel).length).toBeGreaterThan(10);
      const boundaries = new Map(channels.map((channel, index) => [channel, partOf(all(channel), index)]));
      const missed = (): Hits => {
        const rest = channels.map((channel) => {
          const hit = hitOf(name, channel);
          return [toPlay(name, channel), boundaries.get(channel)!.filter((one) => !hit.has(one))] as const;
        });
        return Object.fromEntries(rest.filter(([, names]) => names.length > 0));
      };
      // The first play of each channel is killed at whatever it passes, and also where it recovers. A kill may keep the play from what would
      // have come next (a lease is not released by a process that has died): that is left to further plays.
      for (let round = 1; round <= MOST_ROUNDS && Object.keys(missed()).length > 0; round++) {
        const rest = missed();
        const left = channels.filter((channel) => toPlay(name, channel) in rest);
        const outcomes = await playAll(name, left, MODE === 'all' && round === 1 ? undefined : rest);
        for (const [channel, outcome] of outcomes)
          expect(outcome, `${channel}, round ${round}`).toBe(wanted.get(channel));
      }
      await mortal.arm({});
      expect(missed()).toEqual({});
      const cells = channels.map((channel) => {
        const [count, hit] = [all(channel).length, hitOf(name, channel).size];
        return { play: name, channel, figures: MODE === 'all' ? `${count} + ${hit - count}` : `${hit} of ${count}` };
      });
      if (isLong && process.env['UPDATE_DOCS'] === '1') renewTable(store, cells, { plays: NAMES, channels: CHANNELS });
    },
  );
});

function toPlay(name: PlayName, channel: Channel): string {
  return `${name}: ${channel}`;
}

/** All of them, every tenth from that of the channel on, or four. */
function partOf(boundaries: string[], index: number): string[] {
  if (MODE === 'all') return boundaries;
  const [step, first] = MODE === 'shared' ? [CHANNELS.length, index] : [Math.ceil(boundaries.length / 4), 0];
  return boundaries.filter((_, at) => at % step === first);
}
