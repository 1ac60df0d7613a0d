// Formats values and times of sessions for the terminal: on one line, without escape sequences, and without text that looks like a secret.
import { isFileRef } from '../../../flow/question/check-answer.ts';
import { isSecretRef } from '../../../flow/session/values/secrets.ts';
import { Redactor, SECRET_KEYS, SECRET_PATTERNS } from '../../../gateway/features/redact/redact.ts';
import { isObject } from '../../../kernel/message.ts';
import { visible } from '../../../kernel/base/visible.ts';

const redactor = new Redactor(SECRET_PATTERNS, SECRET_KEYS, '(not shown)');
const MAX_VALUE = 300;

/** A value from the journal. */
export function formatValue(value: unknown): string {
  return formatText(value === undefined ? 'nothing' : JSON.stringify(redactValue(value)));
}

export function formatText(text: string): string {
  const line = visible(text);
  return line.length <= MAX_VALUE ? line : `${line.slice(0, MAX_VALUE)}…`;
}

/** Replaces secrets, files, and values that have the name or the look of a secret. */
export function redactValue<T>(value: T): T {
  return redactor.value(withoutRefs(value) as T);
}

function withoutRefs(value: unknown): unknown {
  if (isSecretRef(value)) return '(secret)';
  if (isFileRef(value)) return `(file ${value.name}, ${value.mimeType}, ${value.size} bytes)`;
  if (Array.isArray(value)) return value.map(withoutRefs);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutRefs(one)]));
}

/** `40s`, `12m`, `5h`, `3d`: as spans are written in flows. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** `2026-11-16 09:31:02 UTC`. */
export function formatTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** `in 3m`, `2h ago`. */
export function formatRelative(at: number, now: number): string {
  return at >= now ? `in ${formatAge(at - now)}` : `${formatAge(now - at)} ago`;
}

export function toIso(at: number | undefined): string | undefined {
  return at === undefined || !Number.isFinite(at) ? undefined : new Date(at).toISOString();
}

const NARROWEST = 20;

/** Breaks text into lines of this width, at spaces where possible. */
export function wrapText(text: string, width: number): string[] {
  if (text.length <= width || width < NARROWEST) return [text];
  const space = text.lastIndexOf(' ', width);
  const at = space > width / 2 ? space : width;
  return [text.slice(0, at), ...wrapText(text.slice(at).trimStart(), width)];
}
