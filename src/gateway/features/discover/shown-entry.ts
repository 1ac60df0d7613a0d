// How an entry of a list is shown to clients that load tools later, or that have little room.
import { isGatewayTool } from '../../../kernel/gateway-tool.ts';
import { isObject } from '../../../kernel/message.ts';
import type { Origin } from '../../../kernel/step.ts';
import type { ListEntry } from '../../chain/list-entries.ts';
import type { NameRule } from '../../matching/name-rule.ts';

/** Read by clients that search tools themselves, such as Claude Code. */
const ALWAYS_LOAD = 'anthropic/alwaysLoad';
const SEARCH_HINT = 'anthropic/searchHint';

const MAX_DESCRIPTION = 160;

type ShowEntry = (entry: ListEntry, origin: Origin | undefined) => ListEntry;

/** What the server says itself stays. */
export function toHinted(
  isAlways: NameRule,
  hintOf: (entry: ListEntry, origin: Origin | undefined) => string | undefined,
): ShowEntry {
  return (entry, origin) => {
    if (isGatewayTool(entry)) return { ...entry, _meta: { [ALWAYS_LOAD]: true, ...metaOf(entry) } };
    const hint = hintOf(entry, origin) ?? wordsOf(entry, origin);
    const always = isAlways(entry.name, origin) ? { [ALWAYS_LOAD]: true } : {};
    return { ...entry, _meta: { [SEARCH_HINT]: hint, ...always, ...metaOf(entry) } };
  };
}

/** The first sentence of its description. The schema stays as it is. */
export const toCompact: ShowEntry = (entry) => {
  const { description } = entry;
  if (typeof description !== 'string' || isGatewayTool(entry)) return entry;
  const short = firstSentence(description);
  return short === description ? entry : { ...entry, description: short };
};

function firstSentence(text: string): string {
  const [line = ''] = text.trim().split('\n');
  const sentence = /^.*?[.!?。](?=\s|$)/u.exec(line)?.[0] ?? line;
  if (sentence.length <= MAX_DESCRIPTION) return sentence;
  const cut = sentence.slice(0, MAX_DESCRIPTION - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MAX_DESCRIPTION / 2)).trimEnd()}…`;
}

/** `github create issue`: its server and its name in words. */
function wordsOf({ name }: ListEntry, origin: Origin | undefined): string {
  const own = origin ? `${origin.server} ${origin.name}` : name;
  return own
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();
}

function metaOf({ _meta }: ListEntry): object {
  return isObject(_meta) ? _meta : {};
}
