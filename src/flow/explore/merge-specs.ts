// One description of a question that was met on several ways through a body: what is the same on all of them. Whatever differs
// depends on an answer, and those were made up.
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../protocol/message.ts';
import type { QuestionSpec, QuestionOptions } from '../engine/question-spec.ts';
import type { Variant } from './sample-answers.ts';

export interface SeenQuestion {
  spec: QuestionSpec;
  variant: Variant;
  /** Answers came before it of which there are more than can be tried. */
  isAfterProbes: boolean;
}

/** True of every session; nothing in it was made up. */
const FLAGS = ['by', 'secret', 'alone', 'ahead'] as const;

/** Undefined where not even the kind is the same. `whole`: nothing had to be left out. */
export function mergeSpecs(sightings: readonly SeenQuestion[]): { spec: QuestionSpec; whole: boolean } | undefined {
  const [first] = sightings;
  if (!first || sightings.some(({ spec }) => spec.kind !== first.spec.kind)) return undefined;
  const specs = sightings.map(({ spec }) => spec);
  // Met with one of the two sets of answers alone: what is theirs in it cannot be told from what is the author's.
  const isDoubtful = first.isAfterProbes && new Set(sightings.map(({ variant }) => variant)).size === 1;
  const options = isDoubtful ? onlyFlags(first.spec.options) : commonOptions(specs.map((spec) => spec.options));
  const holds = (part: 'choices' | 'fields') =>
    !isDoubtful && specs.every((spec) => isDeepStrictEqual(spec[part], first.spec[part]));
  // The key may be made of a made-up answer, too.
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

/** What can be chosen depends on an answer: of its values only the type is known. */
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
