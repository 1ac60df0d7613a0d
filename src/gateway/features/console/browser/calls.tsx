// The calls that this page knows: those that the gateway has kept, and what it tells since.
import { computed, signal } from '@preact/signals';
import type { CallRow, CallsView, MinuteView } from '../views.ts';
import { onCalls, read } from './api.tsx';
import { route } from './route.tsx';

/** As many as the gateway keeps. */
const MAX_ROWS = 2000;

const rows = signal<ReadonlyMap<string, CallRow>>(new Map());
export const minutes = signal<readonly MinuteView[]>([]);
export const loadProblem = signal<string | undefined>(undefined);
let isLoaded = false;

onCalls(take);

/** Once: from then on the gateway tells what is different. */
export async function loadCalls(): Promise<void> {
  if (isLoaded) return;
  isLoaded = true;
  try {
    take(await read<CallsView>('calls'));
    loadProblem.value = undefined;
  } catch (error) {
    isLoaded = false;
    loadProblem.value = (error as Error).message;
  }
}

function take(view: CallsView): void {
  const merged = new Map(rows.value);
  for (const row of view.rows) if ((merged.get(row.id)?.seq ?? 0) <= row.seq) merged.set(row.id, row);
  const ids = [...merged.keys()].toSorted((one, other) => Number(one) - Number(other));
  for (const id of ids.slice(0, Math.max(0, ids.length - MAX_ROWS))) merged.delete(id);
  rows.value = merged;
  if (view.minutes.length > 0) minutes.value = view.minutes;
}

export interface CallFilter {
  readonly text: string;
  /** all, failed, running */
  readonly only: string;
  readonly slowMs: number;
}

export const filter = computed<CallFilter>(() => {
  const { query } = route.value;
  return { text: query.get('find') ?? '', only: query.get('only') ?? '', slowMs: Number(query.get('slow') ?? 0) || 0 };
});

/** The newest first. */
export const shownCalls = computed<readonly CallRow[]>(() => {
  const { text, only, slowMs } = filter.value;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const isWanted = (row: CallRow): boolean => {
    if (only === 'failed' && row.tone !== 'bad') return false;
    if (only === 'running' && row.tone !== 'busy') return false;
    if (slowMs > 0 && (row.ms ?? Infinity) < slowMs) return false;
    const all = [row.name, row.shownName, row.server, row.client, row.who, row.method, row.outcome]
      .join(' ')
      .toLowerCase();
    return words.every((word) => all.includes(word));
  };
  return [...rows.value.values()].filter(isWanted).toSorted((one, other) => Number(other.id) - Number(one.id));
});

export const countOfAll = computed(() => rows.value.size);

/** The row of a call as it is by now. */
export function rowOf(id: string): CallRow | undefined {
  return rows.value.get(id);
}
