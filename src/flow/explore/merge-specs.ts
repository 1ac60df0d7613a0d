// Merges what was seen of a question on several paths: keeps what is equal on all of them. Differences depend on made-up answers.
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../protocol/message.ts';
import type { QuestionSpec, QuestionOptions } from '../engine/question-spec.ts';
import type { Variant } from './sample-answers.ts';

export interface SeenQuestion {
  spec: QuestionSpec;
  variant: Variant;
  /** An earlier answer has too many possible values to try all. */
  isAfterProbes: boolean;
}

/** Flags that hold in every session, as they are never made up. */
const FLAGS = ['by', 'secret', 'alone', 'ahead'] as const;

/** Undefined if even the kind differs. `whole`: nothing had to be left out. */
export function mergeSpecs(sightings: readonly SeenQuestion[]): { spec: QuestionSpec; whole: boolean } | undefined {
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
