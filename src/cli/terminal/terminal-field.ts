// A form field on the terminal: how to ask for it, and how to read what is typed.
import { ENGLISH, describeProblem } from '../../protocol/form/answer-problem.ts';
import type { CheckedValue } from '../../protocol/form/answer-problem.ts';
import { findOption } from '../../protocol/form/field-options.ts';
import type { FieldOption } from '../../protocol/form/field-options.ts';
import type { SchemaField } from '../../protocol/form/schema-field.ts';
import { checkWritten } from '../../protocol/form/validate-answer.ts';

export type FieldInput = { value: unknown } | { problem: string };

/** The value of a typed line, or what is wrong with it. */
export function readField(field: SchemaField, typed: string): FieldInput {
  const meant = readTyped(field, typed.trim());
  const checked = 'code' in meant ? meant : (checkWritten(field, meant.value) ?? { value: undefined });
  if ('value' in checked) return checked;
  const sentences = { ...ENGLISH, boolean: 'Type y or n.', choice: howToChoose(field) };
  return { problem: describeProblem(checked, sentences) };
}

/** What only a terminal has: one letter for yes and no, options by their number, commas between several. */
function readTyped(field: SchemaField, text: string): CheckedValue {
  switch (field.kind) {
    case 'boolean':
      return { value: /^[y1]$/i.test(text) ? true : /^[n0]$/i.test(text) ? false : text };
    case 'choice':
      return { value: toOption(field.options, text) };
    case 'choices': {
      const parts = text.split(',').flatMap((part) => part.trim() || []);
      return { value: parts.map((part) => toOption(field.options, part)) };
    }
    case 'json':
      return readJson(text);
    default:
      return { value: text };
  }
}

function toOption(options: readonly FieldOption[], text: string): unknown {
  const numbered = /^\d+$/.test(text) ? options[Number(text) - 1] : undefined;
  return (findOption(options, text) ?? numbered)?.value ?? text;
}

function readJson(text: string): CheckedValue {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { code: 'json' };
  }
}

function howToChoose(field: SchemaField): string {
  const numbers = `Type a number from 1 to ${'options' in field ? field.options.length : 0}`;
  return field.kind === 'choices' ? `${numbers}, or several with commas between.` : `${numbers}.`;
}
