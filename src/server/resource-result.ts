// Turns the return value of a reader into the result of resources/read.
import type { JsonObject } from '../protocol/message.ts';
import type { ResourceReturn } from './types.ts';

interface Origin {
  uri: string;
  mimeType: string | undefined;
}

export function toResourceResult(returned: ResourceReturn, origin: Origin): JsonObject {
  if (Array.isArray(returned)) return { contents: returned };
  if (typeof returned === 'string') return { contents: [{ ...toHead(origin), text: returned }] };
  if (returned instanceof Uint8Array) return { contents: [{ ...toHead(origin), blob: toBase64(returned) }] };
  return { ...returned };
}

function toHead({ uri, mimeType }: Origin): JsonObject {
  return mimeType === undefined ? { uri } : { uri, mimeType };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
