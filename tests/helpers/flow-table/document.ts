// The table of docs/evidence/flows.md: how each client was asked, in how many rounds, and with which stores.
import { FLOWS, KINDS } from './cells.ts';
import type { Cell, FlowName, Outcome } from './cells.ts';
import { EXEMPTIONS, exemptionOf } from './exemptions.ts';
import { STORES } from './stores.ts';
import type { StoreName } from './stores.ts';
import type { ClientKind } from '../../../src/testing/as-client/client-profiles.ts';
import type { Way } from '../../../src/testing/as-client/test-user.ts';

const NAMES: Record<ClientKind, string> = {
  flow: 'speaks MCP Flow',
  form: 'shows forms and opens links (2025-11-25)',
  'plain-form': 'shows plain forms (2025-06-18)',
  'input-required': 'is answered with the questions (2026-07-28)',
  task: 'follows a task (2025-11-25)',
  page: 'cannot be asked; its user opens our page',
  relay: 'cannot be asked; its model passes answers on',
  arguments: 'cannot be asked; gives all as arguments',
};
const USUAL: Partial<Record<ClientKind, Way>> = { flow: 'prompt', page: 'page', relay: 'model' };
const STORE_NAMES = Object.keys(STORES) as StoreName[];

type Outcomes = ReadonlyMap<Cell, Outcome>;

export function toDocument(outcomes: Outcomes): string {
  const lines = [
    ...table(['the client', ...FLOWS], (kind) => FLOWS.map((flow) => toRounds(outcomes, { flow, kind }))),
    '',
    ...table(['the client', ...STORE_NAMES], (kind) => STORE_NAMES.map((store) => toStore(outcomes, { kind, store }))),
    '',
    ...EXEMPTIONS.map(({ mark, why }) => `- (${mark}) Cannot be: ${why}.`),
  ];
  return `${lines.join('\n')}\n`;
}

function table(heads: readonly string[], cellsOf: (kind: ClientKind) => string[]): string[] {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [row(heads), row(heads.map(() => '---')), ...KINDS.map((kind) => row([NAMES[kind], ...cellsOf(kind)]))];
}

/** Must be the same in every store. */
function toRounds(outcomes: Outcomes, { flow, kind }: { flow: FlowName; kind: ClientKind }): string {
  const cells = [...outcomes].filter(([cell]) => cell.flow === flow && cell.kind === kind);
  const told = new Set(
    cells.flatMap(([, { played }]) => (played ? [`${played.rounds}${toWays(played.ways, kind)}`] : [])),
  );
  if (told.size > 0) return [...told].join(', ');
  return `(${exemptionOf(cells[0]![0])?.mark ?? '?'})`;
}

/** Where the channel differs from the client's usual one. */
function toWays(ways: readonly Way[], kind: ClientKind): string {
  const others = ways.filter((way) => way !== (USUAL[kind] ?? 'form'));
  return others.length === 0 ? '' : ` (${others.join()})`;
}

function toStore(outcomes: Outcomes, { kind, store }: { kind: ClientKind; store: StoreName }): string {
  const cells = [...outcomes].filter(([cell]) => cell.kind === kind && cell.store === store);
  const marks = new Set(cells.flatMap(([cell, { played }]) => (played ? [] : [exemptionOf(cell)?.mark ?? '?'])));
  const works = cells.filter(([, { played }]) => played).length;
  const but = marks.size === 0 ? '' : ` (${[...marks].join(', ')})`;
  return works === 0 ? but.trim() : `${works} of ${cells.length}${but}`;
}
