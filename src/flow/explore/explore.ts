// Finds the questions of a flow by running it with made-up answers: which exist, which are always asked, and which may be asked together.
// It runs the author's code, so it belongs in the sandbox of explore-file.ts.
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../kernel/message.ts';
import type { AnyFlow } from '../define.ts';
import type { QuestionSpec, QuestionOptions } from '../engine/question-spec.ts';
import { NOTHING_FOUND, toRoundKey, uniqueStops } from './exploration.ts';
import type { Exploration, FoundQuestion } from './exploration.ts';
import type { Variant } from './sample-answers.ts';
import { walk } from './walk.ts';
import type { WalkRound, Walk } from './walk.ts';

/** Limit of paths for each of the two sets of answers. */
const MAX_WAYS = 256;

interface ExploreOptions {
  /** Checked on the way: true stops the search, with no findings. */
  isOver?: () => boolean;
}

export async function explore(flow: AnyFlow, { isOver = () => false }: ExploreOptions = {}): Promise<Exploration> {
  if (flow.options.explore === false) return NOTHING_FOUND;
  const ways = [...(await waysFrom(flow, 'a', isOver)), ...(await waysFrom(flow, 'b', isOver))];
  if (isOver()) return NOTHING_FOUND;
  const isKnown = ways.length < 2 * MAX_WAYS;
  const merged = toMerged(ways);
  const stops = uniqueStops(ways.flatMap(({ stop }) => stop ?? []));
  return { questions: toQuestions(ways, merged), next: isKnown ? toNext(ways, merged) : new Map(), stops };
}

/**
 * Starts from one set of answers and changes each answer that the body may branch on. A change that leads to other questions is a branch to
 * follow; the others are not.
 */
async function waysFrom(flow: AnyFlow, variant: Variant, isOver: () => boolean): Promise<Walk[]> {
  const first = await walk(flow, [], { variant, isOver });
  const ways = [first];
  const open = [first];
  const shapes = new Set([toShape(first)]);
  for (let from = open.shift(); from; from = open.shift()) {
    for (const { at, value } of from.others) {
      if (ways.length >= MAX_WAYS || isOver()) return ways;
      const way = await walk(flow, [...from.decisions.slice(0, at), value], { variant, isOver });
      ways.push(way);
      if (!shapes.has(toShape(way))) open.push(way);
      shapes.add(toShape(way));
    }
  }
  return ways;
}

function toShape({ rounds }: Walk): string {
  return rounds.map(({ specs }) => toRoundKey(specs)).join('\n');
}

interface SeenQuestion {
  spec: QuestionSpec;
  variant: Variant;
  /** An earlier answer has too many possible values to try all. */
  isAfterProbes: boolean;
}

type Merged = ReadonlyMap<string, { spec: QuestionSpec; whole: boolean }>;

/** By key, in the order of first appearance. */
function toMerged(ways: readonly Walk[]): Merged {
  const sightings = new Map<string, SeenQuestion[]>();
  for (const { variant, rounds } of ways) {
    for (const { specs, isAfterProbes } of rounds) {
      for (const spec of specs) {
        const known = sightings.get(spec.key) ?? [];
        known.push({ spec, variant, isAfterProbes });
        sightings.set(spec.key, known);
      }
    }
  }
  return new Map([...sightings].flatMap(([key, all]) => toPair(key, mergeSpecs(all))));
}

function toPair<T>(key: string, value: T | undefined): [string, T][] {
  return value === undefined ? [] : [[key, value]];
}

function toQuestions(ways: readonly Walk[], merged: Merged): FoundQuestion[] {
  const met = new Map<string, number>();
  for (const { specs } of ways.flatMap(({ rounds }) => rounds.filter(({ afterStep }) => !afterStep))) {
    for (const { key } of specs) met.set(key, (met.get(key) ?? 0) + 1);
  }
  return [...merged.values()].map(({ spec }) => ({ spec, always: met.get(spec.key) === ways.length }));
}

/** Finds rounds that always follow another one unchanged, and that the author allows to be asked with it. */
function toNext(ways: readonly Walk[], merged: Merged): Map<string, QuestionSpec[]> {
  const next = new Map<string, string | undefined>();
  const following = new Map<string, QuestionSpec[]>();
  for (const { rounds } of ways) {
    rounds.forEach((round, at) => {
      const key = toRoundKey(round.specs);
      const after = toFollowing(round, rounds[at + 1], merged);
      const said = after && JSON.stringify(after);
      if (!next.has(key)) next.set(key, said);
      else if (next.get(key) !== said) next.set(key, undefined);
      if (after) following.set(key, after);
    });
  }
  return new Map([...next].flatMap(([key, said]) => (said === undefined ? [] : toPair(key, following.get(key)))));
}

function toFollowing(round: WalkRound, after: WalkRound | undefined, merged: Merged): QuestionSpec[] | undefined {
  if (!after || after.afterStep !== round.afterStep) return undefined;
  if (round.specs.some(({ options }) => options.alone || options.secret)) return undefined;
  const may = after.specs.every(({ key, kind, options }) => {
    const isPlain = options.by !== 'human' && kind !== 'confirm' && !options.secret && !options.alone;
    return options.ahead === true && isPlain && merged.get(key)?.whole === true;
  });
  return may ? after.specs : undefined;
}

/** Flags that hold in every session, as they are never made up. */
const FLAGS = ['by', 'secret', 'alone', 'ahead'] as const;

/**
 * Merges what was seen of a question on several paths: keeps what is equal on all of them. Differences depend on made-up answers.
 * Undefined if even the kind differs. `whole`: nothing had to be left out.
 */
function mergeSpecs(sightings: readonly SeenQuestion[]): { spec: QuestionSpec; whole: boolean } | undefined {
  const [first] = sightings;
  if (!first || sightings.some(({ spec }) => spec.kind !== first.spec.kind)) return undefined;
  const specs = sightings.map(({ spec }) => spec);
  // Seen with only one set of answers, so the author's part cannot be told from the made-up part.
  const isDoubtful = first.isAfterProbes && new Set(sightings.map(({ variant }) => variant)).size === 1;
  const options = isDoubtful ? onlyFlags(first.spec.options) : commonOptions(specs.map((spec) => spec.options));
  const holds = (part: 'choices' | 'fields') =>
    !isDoubtful && specs.every((spec) => isDeepStrictEqual(spec[part], first.spec[part]));
  // The key may contain a made-up answer, too.
  if (isDoubtful && first.spec.key.includes('.')) return undefined;
  if (first.spec.fields && !holds('fields')) return undefined;
  const spec = { ...first.spec, options };
  if (first.spec.choices && !holds('choices')) return { spec: withoutChoices(spec, specs), whole: false };
  return { spec, whole: specs.every((other) => isDeepStrictEqual(other.options, options)) };
}

function onlyFlags(options: QuestionOptions): QuestionOptions {
  return Object.fromEntries(FLAGS.flatMap((flag) => (options[flag] === undefined ? [] : [[flag, options[flag]]])));
}

function commonOptions(all: readonly QuestionOptions[]): QuestionOptions {
  const [first = {}] = all;
  const common = Object.entries(first).filter(([name, value]) =>
    all.every((options) => isDeepStrictEqual(options[name as keyof QuestionOptions], value)),
  );
  const isOptional = all.some(({ required }) => required === false);
  return { ...Object.fromEntries(common), ...(isOptional && { required: false }) };
}

/** The choices depend on an answer, so only their type is known. */
function withoutChoices({ choices: _, ...spec }: QuestionSpec, specs: readonly QuestionSpec[]): QuestionSpec {
  const types = new Set(
    specs.flatMap(({ choices = [] }) => choices.map((one) => typeof (isObject(one) ? one['value'] : one))),
  );
  const [type] = types;
  const isText = types.size === 1 && type === 'string';
  if (spec.kind === 'choices') {
    return {
      ...spec,
      kind: 'custom',
      options: { ...spec.options, schema: { type: 'array', ...(isText && { items: { type } }) } },
    };
  }
  if (isText) return { ...spec, kind: 'text' };
  return types.size === 1 && type === 'number' ? { ...spec, kind: 'number' } : { ...spec, kind: 'custom' };
}
