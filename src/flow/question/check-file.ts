// Checks a file answer: name, MIME type and the bytes in base64.
import { isObject } from '../../protocol/message.ts';
import type { Complaint, Field } from './question.ts';

/** A file as the body sees it: everything but its bytes, which a step can read. */
export interface FileRef {
  name: string;
  mimeType: string;
  size: number;
  sha256: string;
}

export interface FileAnswer {
  name: string;
  mimeType: string;
  data: string;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;

export function checkFileAnswer(value: unknown, { prompt }: Field): Complaint | undefined {
  if (!isFileAnswer(value)) return { error: 'Must be a file', suggestion: 'Use {name, mimeType, data in base64}' };
  const { maxBytes = DEFAULT_MAX_BYTES, accept } = prompt.validation ?? {};
  if (value.data.length % 4 !== 0 || !BASE64.test(value.data)) return { error: 'data is not base64' };
  if (Buffer.byteLength(value.data, 'base64') > maxBytes) return { error: `Must have at most ${maxBytes} bytes` };
  if (accept && !accept.some((type) => isAccepted(value, type)))
    return { error: `Must be of type ${accept.join(' or ')}` };
  return undefined;
}

export function isFileAnswer(value: unknown): value is FileAnswer {
  return isObject(value) && ['name', 'mimeType', 'data'].every((field) => typeof value[field] === 'string');
}

/**
 * The form of a file in the journal, whose bytes are in the store. Never accepted from a peer, who could name the bytes of somebody else.
 */
export function isFileRef(value: unknown): value is FileRef {
  return isObject(value) && typeof value['sha256'] === 'string' && typeof value['size'] === 'number';
}

/** A MIME type, one with a wildcard, or a file extension. */
function isAccepted({ name, mimeType }: FileAnswer, type: string): boolean {
  if (type.startsWith('.')) return name.toLowerCase().endsWith(type.toLowerCase());
  return type.endsWith('/*') ? mimeType.startsWith(type.slice(0, -1)) : mimeType === type;
}
