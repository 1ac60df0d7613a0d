// Finds the questions of a flow by running it with made-up answers: which there are, which are always asked, and which come next
// whatever is answered, so that they can travel together. Done once per version of the function, never for a request.
import type { AnyFlow } from '../define.ts';
import { toField, toFields } from '../engine/spec.ts';
import type { Spec } from '../engine/spec.ts';
import type { Variant } from './probe.ts';
import { walk } from './walk.ts';
import type { Walk } from './walk.ts';

/** Of each of the two sets of answers. */
const MAX_WAYS = 256;

export interface FoundQuestion {
  spec: Spec;
  /** Asked on every way through the body. */
  always: boolean;
}

export interface Explored {
  questions: FoundQuestion[];
  /** What is asked next, whatever is answered to these questions; by their keys. */
  next: ReadonlyMap<string, Spec[]>;
}

export const NOTHING: Explored = { questions: [], next: new Map() };
const explored = new WeakMap<AnyFlow, Promise<Explored>>();

export function explore(flow: AnyFlow): Promise<Explored> {
  if (flow.options.explore === false) return Promise.resolve(NOTHING);
  const known = explored.get(flow) ?? exploreNow(flow);
  explored.set(flow, known);
  return known;
}

export function toRoundKey(specs: readonly Pick<Spec, 'key'>[]): string {
  return specs.map(({ key }) => key).join(' ');
}

async function exploreNow(flow: AnyFlow): Promise<Explored> {
  const ways = [...(await waysFrom(flow, 'a')), ...(await waysFrom(flow, 'b'))];
  const isKnown = ways.length < 2 * MAX_WAYS;
  return { questions: toQuestions(ways), next: isKnown ? toNext(ways, flow) : new Map() };
}

/**
 * From one set of answers on, each answer that a body may branch on is changed by itself. A change that leads to other questions is
 * a branch, and is followed further; one that leads to the same questions is none.
 */
async function waysFrom(flow: AnyFlow, variant: Variant): Promise<Walk[]> {
  const first = await walk(flow, [], variant);
  const ways = [first];
  const open = [first];
  const shapes = new Set([toShape(first)]);
  for (let from = open.shift(); from; from = open.shift()) {
    for (const { at, value } of from.others) {
      if (ways.length >= MAX_WAYS) return ways;
      const way = await walk(flow, [...from.decisions.slice(0, at), value], variant);
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

function toQuestions(ways: Walk[]): FoundQuestion[] {
  const found = new Map<string, { spec: Spec; ways: number }>();
  for (const { rounds } of ways) {
    for (const round of rounds) {
      for (const spec of round.specs) {
        const known = found.get(spec.key) ?? { spec, ways: 0 };
        if (!round.afterStep) known.ways++;
        found.set(spec.key, known);
      }
    }
  }
  return [...found.values()].map(({ spec, ways: count }) => ({ spec, always: count === ways.length }));
}

/** A round that follows another on every way, in the same words, depends on no answer that was made up. */
function toNext(ways: Walk[], flow: AnyFlow): Map<string, Spec[]> {
  const next = new Map<string, { specs: Spec[]; said: string } | undefined>();
  for (const { rounds } of ways) {
    rounds.forEach((round, at) => {
      const key = toRoundKey(round.specs);
      const after = toFollowing(rounds, at, flow);
      if (!next.has(key)) next.set(key, after);
      else if (next.get(key)?.said !== after?.said) next.set(key, undefined);
    });
  }
  return new Map([...next].flatMap(([key, after]) => (after ? [[key, after.specs]] : [])));
}

function toFollowing(rounds: Walk['rounds'], at: number, flow: AnyFlow) {
  const [round, after] = [rounds[at], rounds[at + 1]];
  if (!round || !after || after.afterStep !== round.afterStep) return undefined;
  if ([...round.specs, ...after.specs].some(({ options }) => options.alone || options.by === 'human' || options.secret))
    return undefined;
  // A validation of the author's own may look at other answers.
  if (after.specs.some(({ options }) => options.validate)) return undefined;
  const tongue = { catalogue: flow.options.messages, locale: undefined };
  const said = after.specs.map((spec) => [
    spec.key,
    toField(spec, tongue),
    spec.fields && toFields(spec.fields, tongue),
    spec.options.message,
  ]);
  return { specs: after.specs, said: JSON.stringify(said) };
}
