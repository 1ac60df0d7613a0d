// Describes the limits of a field before it is filled in.
import { toSize } from '../../../../protocol/form/check-file-value.ts';
import type { SchemaField } from '../../../../protocol/form/schema-field.ts';
import { clip } from '../render/html.ts';
import { fill } from './page-words.ts';
import type { PageWords } from './page-words.ts';

const MAX_TYPES = 300;

export function hintsOf(field: SchemaField, words: PageWords): string {
  switch (field.kind) {
    case 'text':
      return field.format ? '' : lengthHint(field, words);
    case 'secret':
      return `${words.secretHint} ${lengthHint(field, words)}`.trim();
    case 'number': {
      const { minimum: min, maximum: max } = field;
      const range = rangeHint({ min, max }, [words.between, words.atLeast, words.atMost]);
      return field.integer || range !== '' ? range : words.numberHint;
    }
    case 'choices': {
      const { minItems: min, maxItems: max } = field;
      return rangeHint({ min: min || undefined, max }, [words.chooseBetween, words.chooseAtLeast, words.chooseAtMost]);
    }
    case 'file':
      return fill(words.fileHint, {
        types: clip(field.accept.join(', '), MAX_TYPES) || words.anyFile,
        size: toSize(field.maxBytes),
      });
    case 'json':
      return words.jsonHint;
    case 'boolean':
    case 'choice':
      return '';
  }
}

function lengthHint(field: { minLength: number | undefined; maxLength: number | undefined }, words: PageWords): string {
  const min = (field.minLength ?? 0) > 1 ? field.minLength : undefined; // the required mark says so already
  return rangeHint({ min, max: field.maxLength }, [words.lengthBetween, words.lengthAtLeast, words.lengthAtMost]);
}

function rangeHint(
  { min, max }: { min: number | undefined; max: number | undefined },
  [between, atLeast, atMost]: [string, string, string],
): string {
  if (min !== undefined && max !== undefined) return fill(between, { min, max });
  if (min !== undefined) return fill(atLeast, { min });
  return max !== undefined ? fill(atMost, { max }) : '';
}
