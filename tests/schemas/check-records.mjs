// Checks a whole recording, of any number of conversations.
import { Conversation } from './conversation.mjs';
import { exceptionFor } from './exceptions.mjs';

/**
 * `records`: `{ on, from, message, hint }` in the order in which they were heard; `on` names the conversation.
 * Gives how many messages of ours were heard, what violates the schemas, and which exceptions were used how often.
 */
export function checkRecords(records, { ours, fallback }) {
  const conversations = new Map();
  const violations = [];
  const excused = {};
  let checked = 0;
  for (const record of records) {
    const key = record.on ?? '';
    if (!conversations.has(key)) conversations.set(key, new Conversation({ ours, fallback }));
    if (ours === 'both' || record.from === ours) checked += Array.isArray(record.message) ? record.message.length : 1;
    for (const finding of conversations.get(key).hear(record)) {
      const exception = exceptionFor(finding);
      if (exception) excused[exception.name] = (excused[exception.name] ?? 0) + 1;
      else violations.push(finding);
    }
  }
  return { checked, violations, excused };
}

export function describeViolation({ from, message, revision, request, problems }) {
  const about = request ? ` to ${request.method}` : '';
  const text = JSON.stringify(message);
  const shown = text.length > 1500 ? `${text.slice(0, 1500)}…` : text;
  return `${from}${about}, ${revision}: ${[...new Set(problems)].slice(0, 6).join('; ')}\n      ${shown}`;
}
