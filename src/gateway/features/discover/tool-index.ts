// Ranks tools by the words of a query (BM25). An index is made from one list of tools, so nobody finds a tool that was not listed for them.
import type MiniSearch from 'minisearch';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import { isObject } from '../../../kernel/message.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import type { ListEntry } from '../../chain/list-entries.ts';

/** What is indexed of a tool. */
interface ToolWords {
  /** Its place in the list. */
  id: number;
  name: string;
  title: string;
  description: string;
  /** The names and descriptions of its arguments. */
  arguments: string;
}

/** Texts of servers are cut before they are indexed, and so are queries. */
const MAX_TEXT = 2000;
const MAX_QUERY = 400;
const MAX_ARGUMENTS = 50;
/** Callers mostly share their lists. */
const MAX_INDEXES = 16;

const STOP_WORDS = new Set(
  'a an and any are as at be by can do for from get how i in into is it me my of on or so some that the this to use want with you'.split(
    ' ',
  ),
);
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** Keeps the indexes of the lists that were searched last. */
export class ToolIndexes {
  readonly #indexes = new BoundedMap<string, MiniSearch<ToolWords>>(MAX_INDEXES);

  /** The tools that fit best, the best one first. */
  async find(tools: readonly ListEntry[], query: string, most: number): Promise<ListEntry[]> {
    const index = await this.#indexOf(tools.map(toWords));
    const found = index.search(query.slice(0, MAX_QUERY));
    const ranked = found.toSorted((a, b) => b.score - a.score || (a.id as number) - (b.id as number));
    return ranked.slice(0, most).map(({ id }) => tools[id as number]!);
  }

  async #indexOf(words: ToolWords[]): Promise<MiniSearch<ToolWords>> {
    const digest = sha256(JSON.stringify(words), 'base64');
    const known = this.#indexes.get(digest);
    if (known) return known;
    const index = await createIndex();
    index.addAll(words);
    this.#indexes.set(digest, index);
    return index;
  }
}

/** Loaded with the first search. */
async function createIndex(): Promise<MiniSearch<ToolWords>> {
  const { default: Index } = await import('minisearch');
  return new Index<ToolWords>({
    fields: ['name', 'title', 'description', 'arguments'],
    tokenize: toTokens,
    processTerm: toTerm,
    searchOptions: {
      boost: { name: 4, title: 2, description: 1.5 },
      prefix: (term) => term.length > 3,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      weights: { prefix: 0.4, fuzzy: 0.2 },
    },
  });
}

function toWords(tool: ListEntry, id: number): ToolWords {
  const { name, title, description, inputSchema } = tool;
  return { id, name: cut(name), title: cut(title), description: cut(description), arguments: argumentsOf(inputSchema) };
}

function argumentsOf(schema: unknown): string {
  if (!isObject(schema) || !isObject(schema.properties)) return '';
  const given = Object.entries(schema.properties).slice(0, MAX_ARGUMENTS);
  return cut(given.map(([name, one]) => `${name} ${isObject(one) ? cut(one.description) : ''}`).join(' '));
}

function cut(text: unknown): string {
  return typeof text === 'string' ? text.slice(0, MAX_TEXT) : '';
}

/** `createIssue`, `create_issue` and `create issue` are two words each. */
function toTokens(text: string): string[] {
  const words = text.replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').split(/[^\p{L}\p{N}]+/u);
  return words.flatMap((word) => (UNSPACED.test(word) ? segments(word) : word)).filter((word) => word !== '');
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

function segments(text: string): string[] {
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

/** `Issues` is `issue`, and words that are in every text find nothing. */
function toTerm(token: string): string | null {
  const word = token.toLowerCase();
  if (STOP_WORDS.has(word)) return null;
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}
