// Caches lists and reads as long as the server allows: `ttlMs` says how long, `cacheScope` for whom. Results that are private or
// do not say are kept for one principal. A change notification drops the affected results.
import { writeExactly } from '../../../kernel/raw/exact-numbers.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { fieldOf } from '../../../kernel/raw/raw-object.ts';
import type { OriginOf, Step, StepExchange } from '../../../kernel/step.ts';
import type { Change } from '../../../kernel/target.ts';
import { LIST_METHODS, LIST_RESOURCES, LIST_TEMPLATES, READ_RESOURCE } from '../../../kernel/methods.ts';
import { systemClock, ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { respond, resultIn } from '../../chain/outcome.ts';
import { withDefaults } from '../../chain/step-options.ts';

export interface CacheOptions {
  /** For results without `ttlMs`. */
  ttlMs?: number | undefined;
  /** The upper limit, whatever the server says. */
  maxTtlMs?: number | undefined;
  maxEntries?: number | undefined;
  /** The approximate size of all results. */
  maxBytes?: number | undefined;
  clock?: Clock | undefined;
}

const DEFAULTS = { ttlMs: 0, maxTtlMs: 3_600_000, maxEntries: 1000, maxBytes: 64 * 1024 * 1024, clock: systemClock };

/**
 * Keeps lists and reads for their `ttlMs`, or until the server reports a change.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { cache } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [cache({ ttlMs: 60_000 })] });
 * ```
 */
export function cache(options: CacheOptions = {}): Step {
  const { ttlMs, maxTtlMs, clock, ...bounds } = withDefaults('cache', options, DEFAULTS);
  const store = new ResultStore(bounds);
  return {
    name: 'cache',
    methods: [...LIST_METHODS, READ_RESOURCE],
    keepsAnswers: true,
    handle: async function cache(exchange, next, _lookUp, originOf) {
      const own = keyOf(exchange, exchange.client.principal);
      const shared = keyOf(exchange, undefined);
      const kept = store.get(own, ticksOf(clock)) ?? store.get(shared, ticksOf(clock));
      if (kept && mayHave(exchange, originOf)) return respond(withTimeLeft(kept.result, kept.until - ticksOf(clock)));
      const { changes } = store;
      const outcome = await next();
      const told = fieldOf(resultIn(outcome), 'ttlMs');
      const holdsMs = Math.min(typeof told === 'number' ? told : ttlMs, maxTtlMs);
      // A change meanwhile may affect this result.
      if (!(holdsMs > 0) || store.changes !== changes) return outcome;
      const { result } = outcome;
      const about = exchange.method === READ_RESOURCE ? String(exchange.params.uri) : exchange.method;
      store.set(result.cacheScope === 'public' ? shared : own, { result, until: ticksOf(clock) + holdsMs, about });
      return outcome;
    },
    onChange(change) {
      for (const about of concerned(change)) store.forget(about);
      return change;
    },
  } satisfies Step;
}

/** What only the router can judge is not answered here. */
function mayHave({ method, params, resourceGuard }: StepExchange, originOf?: OriginOf): boolean {
  if (method !== READ_RESOURCE || !resourceGuard) return true;
  const origin = originOf?.('resources', String(params.uri));
  return origin !== undefined && resourceGuard(origin);
}

/** Servers may answer differently to clients of different revisions. */
function keyOf({ scope, method, params, client }: StepExchange, principal: string | undefined): string {
  const { _meta, ...asked } = params;
  return writeExactly([scope, method, asked, client.dialect, client.revision, principal]);
}

/** A later client may keep it only for the remaining time. */
function withTimeLeft(result: JsonObject, leftMs: number): JsonObject {
  return typeof result.ttlMs === 'number' ? { ...result, ttlMs: Math.ceil(leftMs) } : result;
}

function concerned(change: Change): string[] {
  if (change.kind === 'resource') return [change.uri];
  if (change.kind === 'resources') return [LIST_RESOURCES, LIST_TEMPLATES];
  return change.kind === 'tools' || change.kind === 'prompts' ? [`${change.kind}/list`] : [];
}

interface StoredResult {
  result: JsonObject;
  until: number;
  /** The method of a list, or the URI of a read resource. */
  about: string;
}

/** Stores results in memory, bounded in number and size; drops the least recently used first. */
class ResultStore {
  readonly #maxBytes: number;
  readonly #entries: BoundedMap<string, StoredResult & { bytes: number }>;
  #bytes = 0;
  /** How many changes have dropped results. */
  changes = 0;

  constructor({ maxEntries, maxBytes }: { maxEntries: number; maxBytes: number }) {
    this.#maxBytes = maxBytes;
    this.#entries = new BoundedMap(maxEntries, ({ bytes }) => (this.#bytes -= bytes));
  }

  get(key: string, now: number): StoredResult | undefined {
    const kept = this.#entries.get(key);
    if (!kept || now < kept.until) return kept;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, kept: StoredResult): void {
    const bytes = key.length + JSON.stringify(kept.result).length;
    if (bytes > this.#maxBytes) return;
    this.#entries.delete(key);
    this.#entries.set(key, { ...kept, bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) this.#entries.delete(this.#entries.oldest()!);
  }

  forget(about: string): void {
    this.changes++;
    for (const [key, kept] of this.#entries.entries()) if (kept.about === about) this.#entries.delete(key);
  }
}
