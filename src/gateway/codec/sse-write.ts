// Writes events of an event stream. A line break in a field cannot start a new field.
import { GatewayError } from '../../shared/errors.ts';
import type { SseEvent } from './sse-reader.ts';
import type { EncodedMessage } from './json-rpc.ts';

/** The default type is `message`; data in bytes contains no line end. */
export type OutgoingEvent = Partial<Omit<SseEvent, 'data'>> & { data?: EncodedMessage };

export function writeEvent(event: OutgoingEvent): EncodedMessage {
  let text = '';
  if (event.event !== undefined) text += `event: ${singleLine(event.event)}\n`;
  if (event.id !== undefined) text += `id: ${singleLine(event.id)}\n`;
  if (event.retry !== undefined) text += `retry: ${event.retry}\n`;
  const { data } = event;
  if (Array.isArray(data)) return [Buffer.from(`${text}data: `), ...data, Buffer.from('\n\n')];
  if (data !== undefined) text += prefixLines('data: ', data);
  return `${text}\n`;
}

/** A comment between events; the blank line makes buffering proxies pass it on. */
export function writeComment(text: string): string {
  return `${prefixLines(': ', text)}\n`;
}

function singleLine(field: string): string {
  if (!hasLineEnd(field)) return field;
  throw new GatewayError('INTERNAL', {}, { cause: new Error('line break in a field of an event') });
}

function prefixLines(prefix: string, text: string): string {
  if (!hasLineEnd(text)) return `${prefix}${text}\n`;
  return `${prefix}${text.split(/\r\n|\r|\n/).join(`\n${prefix}`)}\n`;
}

function hasLineEnd(text: string): boolean {
  return text.includes('\n') || text.includes('\r');
}
