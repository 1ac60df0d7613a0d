// What looks suspicious in a definition and may be harmless: it is said in the log and in the status, and changes nothing. It works offline, on the
// text alone.
import type { JsonObject } from '../../protocol/message.ts';

export type SoftFinding = 'injection' | 'shadowing' | 'reserved-name' | 'look-alike';

/** Names that the gateway has for itself, and for the tools of its servers. */
const OWN_PREFIX = 'parley_';
const QUALIFIER = '__';
/** Shorter names of servers are in too many words. */
const MIN_SERVER = 3;

/** Orders to a model, which a description has no reason to contain. */
const INJECTIONS = [
  /\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|any|other)\b.{0,20}\b(?:instructions?|messages?|prompts?|rules?)\b/,
  /<\/?(?:important|system|instructions?|secret)\b[^>]*>/,
  /\b(?:do not|don't|never|without)\b.{0,20}\b(?:tell|mention|inform|reveal|show|notify|telling|mentioning|informing)\b.{0,30}\b(?:user|person|human)\b/,
  /\b(?:before|whenever|every time|each time)\b.{0,30}\b(?:using|calling|call|use)\b.{0,30}\b(?:any|other|another|every|all)\b.{0,15}\btools?\b/,
  /(?:~|\/root|\/home\/\S{1,40})\/\.(?:ssh|aws|config|gnupg|kube)\b|\bid_rsa\b|\bauthorized_keys\b/,
  /\byour (?:system prompt|hidden instructions)\b/,
];
/** Longer texts are judged by their beginning. */
const MAX_TEXT = 20_000;

export interface SoftContext {
  server: string;
  /** All servers of the gateway. */
  servers: readonly string[];
}

export function softFindings(name: string, entry: JsonObject, { server, servers }: SoftContext): SoftFinding[] {
  const text = textsIn({ ...entry, name: '' })
    .join('\n')
    .slice(0, MAX_TEXT)
    .normalize('NFKC')
    .toLowerCase();
  const others = servers.filter((other) => other !== server && other.length >= MIN_SERVER);
  const isReserved = [OWN_PREFIX, ...servers.map((one) => `${one}${QUALIFIER}`)].some((one) => name.startsWith(one));
  const found: Record<SoftFinding, boolean> = {
    injection: INJECTIONS.some((one) => one.test(text)),
    shadowing: others.some((other) => text.includes(`${other.toLowerCase()}${QUALIFIER}`)),
    'reserved-name': isReserved,
    'look-alike': hasMixedScripts(name),
  };
  return (Object.keys(found) as SoftFinding[]).filter((one) => found[one]);
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
