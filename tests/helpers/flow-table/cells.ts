// The example flows with every kind of client and every store.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { exploreFile } from 'mcp-parley/flow';
import type { AnyFlow, ExploredFlows } from 'mcp-parley/flow';
import { testFlow } from 'mcp-parley/testing';
import { ROOT, read } from '../files.ts';
import { STORES } from './stores.ts';
import type { StoreName } from './stores.ts';
import type { ClientKind } from '../../../src/testing/as-client/client-profiles.ts';
import type { PlayedAsClient } from '../../../src/testing/as-client/play-as-client.ts';

/** The flow files and their exports. */
const EXPORTS = { trip: 'trip', register: 'register', deploy: 'deploy', import: 'importTable', survey: 'survey' };
export type FlowName = keyof typeof EXPORTS;
export const FLOWS = Object.keys(EXPORTS) as FlowName[];

export const KINDS: readonly ClientKind[] = [
  ...(['flow', 'form', 'plain-form', 'input-required'] as const),
  ...(['task', 'page', 'relay', 'arguments'] as const),
];

export interface Cell {
  flow: FlowName;
  kind: ClientKind;
  store: StoreName;
}

export type Outcome = { played: PlayedAsClient; failure?: undefined } | { failure: string; played?: undefined };

const AT_ONCE = 6;

export const CELLS: readonly Cell[] = FLOWS.flatMap((flow) =>
  KINDS.flatMap((kind) => (Object.keys(STORES) as StoreName[]).map((store) => ({ flow, kind, store }))),
);

export async function flowOf(name: FlowName): Promise<AnyFlow> {
  const module = (await import(join(ROOT, `examples/flows/${name}.mjs`))) as Record<string, AnyFlow>;
  return module[EXPORTS[name]]!;
}

const explored = new Map<FlowName, Promise<ExploredFlows>>();

/** Explored in a separate process, as `parley explore` does. */
export function exploredOf(name: FlowName): Promise<ExploredFlows> {
  const known = explored.get(name) ?? exploreFile(join(ROOT, `examples/flows/${name}.mjs`));
  explored.set(name, known);
  return known;
}

export function answersOf(name: FlowName): Record<string, unknown> {
  return JSON.parse(read(`examples/flows/answers/${name}.json`)) as Record<string, unknown>;
}

/** The result without a client. */
export async function resultOf(name: FlowName): Promise<unknown> {
  const { result } = await testFlow(await flowOf(name)).answer(answersOf(name));
  return JSON.parse(JSON.stringify(result));
}

export function isSame({ played }: Outcome, wanted: unknown): boolean {
  return played !== undefined && !played.isError && isDeepStrictEqual(played.result, wanted);
}

export async function playAll(cells: readonly Cell[], redis: string): Promise<Map<Cell, Outcome>> {
  const outcomes = new Map<Cell, Outcome>(cells.map((cell) => [cell, { failure: 'it was not played' }])); // in this order
  const left = [...cells];
  const work = async (): Promise<void> => {
    for (let cell = left.shift(); cell; cell = left.shift()) outcomes.set(cell, await play(cell, redis));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}

async function play({ flow, kind, store }: Cell, redis: string): Promise<Outcome> {
  const place = await STORES[store](redis);
  const tokens = store === 'token' ? { tokens: 'signed' as const } : {};
  try {
    const explored = await exploredOf(flow);
    const tested = testFlow(await flowOf(flow)).asClient(kind, { store: place.store, explored, ...tokens });
    const played = await tested.answer(answersOf(flow));
    return played.isError ? { failure: String(played.result) } : { played };
  } catch (thrown) {
    return { failure: (thrown as Error).message };
  } finally {
    await place.close();
  }
}
