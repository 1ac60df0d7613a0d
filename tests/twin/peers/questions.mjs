// The questions of the raw server and the answers of the raw client. Both carry whose question it is, so that one that goes astray is seen.
import { BIG } from './catalogue.mjs';

export function questionOf(kind, mark) {
  if (kind === 'sample') {
    const messages = [{ role: 'user', content: { type: 'text', text: mark } }];
    return { method: 'sampling/createMessage', params: { messages, maxTokens: 7, metadata: { n: BIG } } };
  }
  if (kind === 'roots') return { method: 'roots/list', params: { _meta: { 'com.example/mark': mark } } };
  const requestedSchema = {
    type: 'object',
    properties: { mark: { type: 'string', title: 'Markierung 漢' }, who: { type: 'string' } },
    required: ['mark'],
  };
  return { method: 'elicitation/create', params: { message: mark, requestedSchema } };
}

/** `A3 q0`, or undefined for anything else. */
export function markOf({ method, params }) {
  if (method === 'elicitation/create') return params.message;
  if (method === 'sampling/createMessage') return params.messages[0].content.text;
  if (method === 'roots/list') return params?._meta?.['com.example/mark'];
  return undefined;
}

export function answerTo(question, who) {
  const mark = markOf(question) ?? '';
  if (question.method === 'roots/list') return { roots: [{ uri: `file:///${who}`, name: who }] };
  if (question.method === 'sampling/createMessage') {
    return {
      role: 'assistant',
      model: 'twin',
      content: { type: 'text', text: `${mark} by ${who}` },
      stopReason: 'endTurn',
    };
  }
  return { action: 'accept', content: { mark, who } };
}
