// Asks a person whether a model may read an answer. It is a question that only a person may answer, put by the same means as an approval, and it
// shows every held part whole: what is too long to be shown is not passed on.
import type { Ask } from '../../../../protocol/exchange.ts';
import type { StepExchange } from '../../../../protocol/step.ts';
import { randomId } from '../../../../shared/crypto/ids.ts';
import { shorten, visible } from '../../../../shared/visible.ts';
import type { DeadlineOptions } from '../../chain/deadline.ts';
import { logDecision, putToPerson } from '../approve/approvals.ts';
import type { Decision } from '../approve/approvals.ts';
import type { ScreenPart } from './result-parts.ts';

export interface HeldAnswer {
  name: string;
  server: string | undefined;
  findings: readonly string[];
  parts: readonly ScreenPart[];
}

/** Resolves with the reason of a refusal, or undefined if it may pass. */
export async function reviewByPerson(
  held: HeldAnswer,
  exchange: StepExchange,
  limit: DeadlineOptions,
): Promise<string | undefined> {
  const given: Omit<Decision, 'refusal'> = { way: 'client' };
  const onAnswered: Ask['onAnswered'] = (way, who, shown) => void Object.assign(given, { way, who, shown });
  const refusal = await putToPerson({ ...toQuestion(held), onAnswered }, exchange, limit);
  logDecision(held.name, exchange, { ...given, refusal });
  return refusal;
}

/** Line by line, so that no line can pass for one of ours. */
function quoted(text: string): string {
  const lines = text.split(/\r\n|[\n\r]/);
  return lines.map((line) => `> ${visible(line)}`).join('\n');
}

function toQuestion({ name, server, findings, parts }: HeldAnswer): Ask {
  const source = `${visible(shorten(name))} of ${visible(shorten(server ?? 'the server'))}`;
  const text = parts.map((part) => quoted(part.text)).join('\n\n');
  const message = `May the model read this answer of ${source}? It was held because of: ${findings.join(', ')}.\n\n${text}`;
  const approve = { type: 'boolean', title: 'Pass it on', description: 'Yes, the model may read it.' };
  const requestedSchema = { type: 'object', properties: { approve }, required: ['approve'] };
  const params = { mode: 'form', message, requestedSchema };
  return { method: 'elicitation/create', params, key: randomId('review_'), human: true, ofGateway: true };
}
