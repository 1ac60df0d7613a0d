// One function, one result: five flows, every kind of client, every store. What came of it is the table in docs/evidence/flows.md;
// `UPDATE_DOCS=1 npx vitest run --project integration flow-table` renews it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFlow } from 'mcp-parley/testing';
import { CELLS, FLOWS, answersOf, exploredOf, flowOf, isSame, playAll, resultOf } from '../helpers/flow-table/cells.ts';
import type { Cell, FlowName, Outcome } from '../helpers/flow-table/cells.ts';
import { toDocument } from '../helpers/flow-table/document.ts';
import { EXEMPTIONS, exemptionOf } from '../helpers/flow-table/exemptions.ts';
import { ROOT, read } from '../helpers/files.ts';
import { startRedis } from '../helpers/redis-server.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { hasTool } from '../helpers/tools.ts';

const PAGE = 'docs/evidence/flows.md';
const BLOCK = /(<!-- table: flows -->\n\n)([\s\S]*?)(\n<!-- end of table -->)/;
const hasRedis = hasTool('redis-server');
const cells = CELLS.filter(({ store }) => hasRedis || store !== 'Redis');

let redis: RedisServer | undefined;
let outcomes = new Map<Cell, Outcome>();
const wanted = new Map<FlowName, unknown>();

beforeAll(async () => {
  redis = hasRedis ? await startRedis() : undefined;
  for (const name of FLOWS) wanted.set(name, await resultOf(name));
  outcomes = await playAll(cells, redis?.url ?? '');
}, 600_000);
afterAll(async () => redis?.[Symbol.asyncDispose]());

describe.each(FLOWS)('%s', (name) => {
  const own = cells.filter(({ flow }) => flow === name);

  it.each(own.filter((cell) => !exemptionOf(cell)))('$kind, $store: the same result', (cell) => {
    const { played, failure } = outcomes.get(cell)!;
    expect(failure).toBeUndefined();
    expect(played!.result).toEqual(wanted.get(name));
    const effects = played!.steps.flatMap(({ effect, key }) => (effect ? [key] : []));
    expect(effects).toEqual([...new Set(effects)]);
  });

  it.each(own.filter(exemptionOf))('$kind, $store: cannot be, for the reason it has', (cell) => {
    const outcome = outcomes.get(cell)!;
    expect(isSame(outcome, wanted.get(name)), 'this exemption works').toBe(false);
    expect(outcome.failure).toMatch(exemptionOf(cell)!.told);
  });
});

it('exempts nothing that does not occur', () => {
  const used = new Set(CELLS.map((cell) => exemptionOf(cell)));
  expect(EXEMPTIONS.filter((exemption) => !used.has(exemption))).toEqual([]);
});

describe('the survey in a client that gives a call up after 10 rounds', () => {
  it('forty questions that may be asked together fit into a few rounds', async () => {
    const explored = await exploredOf('survey');
    const tested = testFlow(await flowOf('survey')).asClient('input-required', { maxRounds: 10, explored });
    const played = await tested.answer(answersOf('survey'));
    expect(played).toMatchObject({ result: wanted.get('survey'), ways: ['form'], rounds: 4, kept: false });
  });

  it('forty questions asked one by one continue by the handle of the call', async () => {
    const survey = await flowOf('survey');
    const tested = testFlow(survey).asClient('input-required', { maxRounds: 10 });
    const played = await tested.answer(answersOf('survey'));
    expect(played).toMatchObject({ result: wanted.get('survey'), rounds: 40, ways: ['form', 'page'] });
  });
});

it.skipIf(!hasRedis)('is the table in the manual', () => {
  const [, before, table, after] = BLOCK.exec(read(PAGE)) ?? [];
  const document = toDocument(outcomes);
  if (process.env['UPDATE_DOCS'] !== '1') return expect(table).toBe(document);
  writeFileSync(
    join(ROOT, PAGE),
    read(PAGE).replace(BLOCK, () => `${before}${document}${after}`),
  );
});
