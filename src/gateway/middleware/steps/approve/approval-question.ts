// Writes the question whether a call may be made, and reads the answer.
// 1. It shows the tool, its server and every argument, whole: nothing is cut, left out or redacted, because a person approves only what
//    they have seen. A question that is too long to be shown is refused where it is put (limits.maxShownChars).
// 2. Names and values come from a model: they can neither imitate other lines of the question nor hide what follows.
// 3. The form is never empty or prefilled: a client that accepts every question has not said yes.
import type { Ask } from '../../../../protocol/exchange.ts';
import { membersOf, writeExactly } from '../../../../protocol/raw/exact-numbers.ts';
import type { JsonObject } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import { randomId } from '../../../../shared/crypto/ids.ts';
import { visible } from '../../../../shared/visible.ts';

/** `{tool}`, `{server}` and `{arguments}` are placeholders. */
export const DEFAULT_MESSAGE = 'Call {tool} of {server}?\n\n{arguments}';

const MAX_NAME = 80;

export interface CallToApprove {
  tool: string;
  server: string | undefined;
  arguments: unknown;
}

export function toApprovalQuestion(calling: CallToApprove, message: string, note: string): Ask {
  const words: Record<string, string> = {
    tool: toLine(calling.tool, MAX_NAME),
    server: toLine(calling.server ?? 'the server', MAX_NAME),
    arguments: toLines(calling),
  };
  const requestedSchema = {
    type: 'object',
    properties: { approve: { type: 'boolean', title: 'Approve', description: `Yes, call it. ${note}`.trim() } },
    required: ['approve'],
  };
  const whole = message.includes('{arguments}') ? message : `${message}\n\n{arguments}`;
  const filled = whole.replace(/\{(tool|server|arguments)\}/g, (_, word: string) => words[word]!);
  const params = { mode: 'form', message: filled, requestedSchema };
  return { method: 'elicitation/create', params, key: randomId('approve_'), human: true, ofGateway: true };
}

/** The reason of a refusal; undefined for a yes. */
export function refusalIn({ action, content }: JsonObject): string | undefined {
  if (action === 'accept' && isObject(content) && content.approve === true) return undefined;
  if (action === 'accept' && isObject(content) && content.approve === false) return 'the user said no';
  if (action === 'accept') return 'the answer says neither yes nor no';
  return action === 'decline' ? 'the user said no' : 'the question was closed without an answer';
}

function toLines({ arguments: given }: CallToApprove): string {
  if (given === undefined || (isObject(given) && Object.keys(given).length === 0)) return 'It has no arguments.';
  const exact = writeExactly(given);
  if (!isObject(given)) return visible(exact);
  const entries = Object.entries(given);
  const members = membersOf(exact);
  const areAll = members.length === entries.length; // a step may have set some to undefined
  const lines = entries.map(([name, value], index) => {
    const written = areAll ? members[index]! : (JSON.stringify(value) ?? 'nothing');
    return `${visible(name)}: ${visible(written)}`;
  });
  return lines.join('\n');
}

function toLine(text: string, max: number): string {
  const line = visible(text);
  if (line.length <= max) return line;
  return `${line.slice(0, max)}… (${line.length} characters in all)`;
}
