// One cell of the table: a channel, an attack, a tool.
import type { Answer, Json } from '../http-wire.ts';

/** `wipe` and `burn` need an approval, `ship` and `haul` ask a human; `burn` waits a second, `haul` is a task. */
export type Tool = 'wipe' | 'burn' | 'ship' | 'haul';

export const ATTACKS = {
  before: 'before its question',
  twice: 'twice',
  other: 'from another session or user',
  unproven: 'from one whom nobody vouches for',
  late: 'after its question has expired or its call was cancelled',
  swapped: 'for another question',
} as const;
export type Attack = keyof typeof ATTACKS;

export interface Outcome {
  /** What must not be done, whatever was sent. */
  never: string[];
  /** What must be done once, because it was allowed as it should be. */
  once?: string[];
  /** What the attacker, or the call that was attacked, was told. */
  told: unknown[];
}

export interface Channel {
  tools: Tool[];
  /** The way that works: what is done, and what the caller was told. */
  honest?: (tool: Tool) => Promise<[mark: string, told: unknown]>;
  attacks: Partial<Record<Attack, (tool: Tool) => Promise<Outcome>>>;
}

let marks = 0;
export const newMark = (): string => `mark-${String(++marks).padStart(4, '0')}`;

export const contentOf = (tool: Tool, value: boolean): Json =>
  tool === 'wipe' || tool === 'burn' ? { approve: value } : { sure: value };
export const accept = (tool: Tool, value = true): Json => ({ action: 'accept', content: contentOf(tool, value) });

/** A tool with the other kind of question. */
export const otherKind = (tool: Tool): Tool => (tool === 'wipe' ? 'ship' : 'wipe');

export const handleOf = ({ result }: Answer): string =>
  String((result?.['_meta'] as Json | undefined)?.['mcp-parley/handle']);

/** What was told, in a few words. What is not clear has none. */
const WORDS: [RegExp, string][] = [
  [/Only the user can answer this|Only a person may answer this/, 'no human approval'],
  [/only the user can give it/, 'only the user can give it'],
  [/A person has been asked/, 'a person is asked instead'],
  [/no answer in time/, 'not approved in time'],
  [/said no|not done/, 'still waits for the one who was asked'],
  [/Pair this browser/, 'pair this browser'],
  [/no longer open/, 'no longer open'],
  [/This link does not work/, 'the link does not work'],
  [/This form was not accepted|This was not understood/, 'the form is not accepted'],
  [/This handle has no open question/, 'no such question'],
  [/Session not found|Unknown task/, 'not found'],
  [/already cancelled|"status":"cancelled"/, 'cancelled'],
  [/(no|another) prompt is open|is not open|has not been answered/, 'not open'],
  [/[Uu]nknown whether deed has happened/, 'not done again'],
  [/"code":-32602/, '-32602'],
  [/elicitation\/create|"initialPrompt"|"interaction\.prompt"/, 'asked all the same'],
  [/(wipe|ship|haul) done/, 'the result of the first'],
];

export function wordsFor(told: unknown): string {
  const text = JSON.stringify(told);
  const found = WORDS.find(([pattern]) => pattern.test(text));
  if (!found) throw new Error(`not a clear refusal: ${text}`);
  return found[1];
}
