// What the body of a response says: read whole under a limit, and, where the status was an error, as an HttpRefusal.
// Reading never throws: a body that breaks off or grows too large is an outcome to be told.
import type { HttpResponse } from './http-exchange.ts';
import { HttpRefusal } from '../links/link.ts';
import type { ResponseBody } from './response-body.ts';

export type Body = { kind: 'whole'; bytes: Buffer } | { kind: 'oversize' } | { kind: 'broken'; reason: string };

/** An error is evidence for the era probe when it is JSON-RPC, and an error page otherwise. */
const MAX_ERROR_BYTES = 256 * 1024;
const MAX_ERROR_CHARS = 2048;
const MAX_DISCARDED_BYTES = 128 * 1024;

/** Tells it once, when the body is over. */
export function readBody(body: ResponseBody, maxBytes: number, told: (content: Body) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  body.read({
    onData(chunk) {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBytes) body.destroy();
    },
    onEnd(error) {
      if (bytes > maxBytes) told({ kind: 'oversize' });
      else if (error) told({ kind: 'broken', reason: error.message });
      else told({ kind: 'whole', bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) });
    },
  });
}

/** Read and thrown away, so that the connection can be used again; of what is longer than that the connection is given up. */
export function discard(body: ResponseBody): Promise<void> {
  return new Promise((resolve) => readBody(body, MAX_DISCARDED_BYTES, () => resolve()));
}

export async function toRefusal({ statusCode, headers, body }: HttpResponse): Promise<HttpRefusal> {
  const content = await new Promise<Body>((resolve) => readBody(body, MAX_ERROR_BYTES, resolve));
  const text = content.kind === 'whole' ? content.bytes.toString() : '';
  return new HttpRefusal(statusCode, parsed(text), retryAfterMs(headers['retry-after']));
}

export function mediaType({ headers }: HttpResponse): string {
  const given = headers['content-type'];
  if (given === 'application/json') return given;
  const [type = ''] = String(given ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, MAX_ERROR_CHARS);
  }
}

/** Seconds, or a date. */
function retryAfterMs(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
