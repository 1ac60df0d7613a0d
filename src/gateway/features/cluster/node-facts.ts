// What a node says of itself to the others, in its row of the state, and what is shown of it. Rows of other versions may have more members, or fewer.
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { NodeReport } from '../../../kernel/nodes/nodes.ts';

export interface NodeFacts {
  readonly version?: string | undefined;
  /** When it has started, by its own clock. */
  readonly started?: number | undefined;
  readonly sessions?: number | undefined;
  /** Digests of what it is configured with, by key. */
  readonly config?: Readonly<Record<string, string>> | undefined;
}

/** As another node has written them, whose version may differ. */
export function readFacts({ version, started, sessions, config }: JsonObject): NodeFacts {
  return {
    version: typeof version === 'string' ? version.slice(0, 64) : undefined,
    started: toCount(started),
    sessions: toCount(sessions),
    config: isObject(config) ? (config as Record<string, string>) : undefined,
  };
}

function toCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The keys in which two nodes are configured differently; none if one of them does not say. */
export function differences({ config: one }: NodeFacts, { config: other }: NodeFacts): string[] {
  if (!one || !other) return [];
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].filter((key) => one[key] !== other[key]).sort();
}

interface SeenNode {
  readonly name: string;
  readonly url: string;
  readonly isDraining: boolean;
  /** Its clock minus ours. */
  readonly clockAhead: number;
  readonly facts: NodeFacts;
}

/** `own`: the facts of the node that is asked. */
export function toReport({ name, url, isDraining, clockAhead, facts }: SeenNode, own: NodeFacts): NodeReport {
  const { version = null, started, sessions = null } = facts;
  return {
    node: name,
    url,
    isSelf: facts === own,
    isDraining,
    version,
    started: started === undefined ? null : toTime(started - clockAhead),
    sessions,
    differs: differences(facts, own),
  };
}

function toTime(ms: number): string | null {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
