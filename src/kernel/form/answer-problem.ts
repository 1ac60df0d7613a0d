// What can be wrong with an answer: a code and the limit it breaks, so that it can be shown in any language.
export type ProblemCode =
  | 'required'
  | 'unknown'
  | 'text'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'choice'
  | 'json'
  | 'tooShort'
  | 'tooLong'
  | 'pattern'
  | 'email'
  | 'uri'
  | 'date'
  | 'dateTime'
  | 'tooSmall'
  | 'tooLarge'
  | 'tooFew'
  | 'tooMany'
  | 'file'
  | 'fileTooLarge'
  | 'fileType';

export interface AnswerProblem {
  /** The name of the property. */
  readonly property: string;
  readonly code: ProblemCode;
  /** The expected length, bound, pattern or options. */
  readonly limit: string | number | undefined;
}

/** The value of one field, or what is wrong with it. */
export type CheckedValue = { value: unknown } | { code: ProblemCode; limit?: string | number | undefined };

export type ProblemSentences = Record<ProblemCode, string>;

/** `{limit}` is filled in. */
export const ENGLISH: ProblemSentences = {
  required: 'This needs an answer.',
  unknown: 'This was not asked for.',
  text: 'Enter text.',
  number: 'Enter a number without thousands separators, such as 12 or 3.5.',
  integer: 'Enter a whole number, such as 12.',
  boolean: 'Choose yes or no.',
  choice: 'Choose one of these: {limit}.',
  json: 'Enter valid JSON.',
  tooShort: 'Use at least {limit} characters.',
  tooLong: 'Use at most {limit} characters.',
  pattern: 'This does not have the expected form: {limit}',
  email: 'Enter an e-mail address, such as name@example.com.',
  uri: 'Enter a complete address, such as https://example.com.',
  date: 'Enter a date as year-month-day, such as 1999-12-31.',
  dateTime: 'Enter a date and a time with its time zone, such as 1999-12-31T18:00:00Z.',
  tooSmall: 'This must be at least {limit}.',
  tooLarge: 'This must be at most {limit}.',
  tooFew: 'Choose at least {limit}.',
  tooMany: 'Choose at most {limit}.',
  file: 'Choose a file.',
  fileTooLarge: 'Choose a file of at most {limit}.',
  fileType: 'Choose a file of one of these types: {limit}.',
};

export function describeProblem(
  { code, limit }: Exclude<CheckedValue, { value: unknown }>,
  sentences: ProblemSentences = ENGLISH,
): string {
  return sentences[code].replace('{limit}', () => String(limit ?? ''));
}
