// What looks suspicious in a definition and may be harmless: it is said in the log and in the status, and changes nothing. It works offline, on the
// text alone.
import type { JsonObject } from '../../protocol/message.ts';
import { hasCovert } from '../../shared/text/hidden.ts';
import { suspiciousIn } from '../../shared/text/suspicious.ts';
import type { TextFinding } from '../../shared/text/suspicious.ts';

export type SoftFinding = TextFinding | 'hidden' | 'shadowing' | 'reserved-name' | 'look-alike';

/** Names that the gateway has for itself, and for the tools of its servers. */
const OWN_PREFIX = 'parley_';
const QUALIFIER = '__';
/** Shorter names of servers are in too many words. */
const MIN_SERVER = 3;

export interface SoftContext {
  server: string;
  /** All servers of the gateway. */
  servers: readonly string[];
  /** Whether another name, of any server, can be taken for this one. */
  isLikeAnother: (name: string) => boolean;
}

export function softFindings(name: string, entry: JsonObject, context: SoftContext): SoftFinding[] {
  const { server, servers, isLikeAnother } = context;
  const text = textsIn({ ...entry, name: '' }).join('\n');
  const lower = text.toLowerCase();
  const others = servers.filter((other) => other !== server && other.length >= MIN_SERVER);
  const found: SoftFinding[] = suspiciousIn(text);
  if (hasCovert(text) || hasCovert(name)) found.push('hidden');
  if (others.some((other) => lower.includes(`${other.toLowerCase()}${QUALIFIER}`))) found.push('shadowing');
  if ([OWN_PREFIX, ...servers.map((one) => `${one}${QUALIFIER}`)].some((one) => name.startsWith(one)))
    found.push('reserved-name');
  if (hasMixedScripts(name) || isLikeAnother(name)) found.push('look-alike');
  return found;
}

/** A Latin name with Greek or Cyrillic letters that look like Latin ones. */
function hasMixedScripts(name: string): boolean {
  return /[a-z]/i.test(name) && /[\u0370-\u03ff\u0400-\u052f]/.test(name);
}

/** All texts but that of the name. */
function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 20) return [];
  return Object.values(value).flatMap((one) => textsIn(one, depth + 1));
}
