// Parses a typed answer into a value for its question. The rules of the question check it later.
import type { Question } from '../../flow/question/question.ts';
import { readNumber } from '../../kernel/form/validate-answer.ts';

export function parseTypedAnswer({ kind, prompt }: Pick<Question, 'kind' | 'prompt'>, text: string): unknown {
  const trimmed = text.trim();
  switch (kind) {
    case 'confirm':
      return YES_NO[trimmed.toLowerCase()] ?? text;
    case 'number':
      return readNumber(trimmed) ?? text;
    case 'choice':
      return toChoice(prompt.choices, trimmed);
    case 'choices':
      return toList(text).map((one) => (typeof one === 'string' ? toChoice(prompt.choices, one) : one));
    case 'form':
    case 'custom':
      return toJson(text);
    default:
      return text === '' ? undefined : text;
  }
}

const YES_NO: Record<string, boolean> = { yes: true, y: true, true: true, no: false, n: false, false: false };

/** Finds a choice by its value or label. */
function toChoice(choices: Question['prompt']['choices'] = [], text: string): unknown {
  const found = choices.find(({ value, label }) => String(value) === text || label === text);
  return found ? found.value : text;
}

function toList(text: string): unknown[] {
  const value = toJson(text);
  return Array.isArray(value) ? value : text.split(',').map((one) => one.trim());
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
