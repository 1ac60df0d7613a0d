// Checks a file answer: `{ name, mimeType, data }` with data in base64.
import { isObject } from '../message.ts';
import type { FileField } from './schema-field.ts';
import type { CheckedValue } from './answer-problem.ts';

const MAX_NAME = 255;

export function checkFileValue({ accept, maxBytes }: FileField, given: unknown): CheckedValue {
  if (!isObject(given)) return { code: 'file' };
  const { name, mimeType, data } = given;
  if (typeof name !== 'string' || typeof mimeType !== 'string' || typeof data !== 'string') return { code: 'file' };
  if (!isBase64(data)) return { code: 'file' };
  if (sizeOf(data) > maxBytes) return { code: 'fileTooLarge', limit: toSize(maxBytes) };
  if (!isAccepted(accept, name, mimeType)) return { code: 'fileType', limit: accept.join(', ') };
  return { value: { name: toFileName(name), mimeType, data } };
}

/** Formats a size for people: 300 KB, 1.5 MB. */
export function toSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1024, 'KB'] : [bytes / 1024 / 1024, 'MB'];
  return `${Number(size.toFixed(1))} ${unit}`;
}

/** The last part of the path: a name to display, never to write to. */
function toFileName(name: string): string {
  const last = name
    .split(/[/\\]/)
    .at(-1)!
    .replaceAll(/\p{Cc}/gu, '');
  return last.slice(-MAX_NAME);
}

function isAccepted(accept: readonly string[], name: string, mimeType: string): boolean {
  if (accept.length === 0) return true;
  const [file, type] = [name.toLowerCase(), mimeType.toLowerCase()];
  return accept.some((one) => {
    if (one.startsWith('.')) return file.endsWith(one);
    return one.endsWith('/*') ? type.startsWith(one.slice(0, -1)) : type === one;
  });
}

function isBase64(data: string): boolean {
  return data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
}

function sizeOf(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}
