// What the body of a response says: read whole under a limit, and, where the status was an error, as an HttpRefusal.
// Reading never throws: a body that breaks off or grows too large is an outcome to be told.
import type { UpstreamResponse } from './http-exchange.ts';
import { HttpRefusal } from '../links/link.ts';
import type { ResponseBody } from './response-body.ts';

export type BodyContent = { kind: 'whole'; bytes: Buffer } | { kind: 'oversize' } | { kind: 'broken'; reason: string };

/** An error is evidence for the era probe when it is JSON-RPC, and an error page otherwise. */
const MAX_ERROR_BYTES = 256 * 1024;
const MAX_ERROR_CHARS = 2048;
const MAX_DISCARDED_BYTES = 128 * 1024;

/** Tells it once, when the body is over. */
export function readResponseBody(body: ResponseBody, maxBytes: number, told: (content: BodyContent) => void): void {
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
export function discardBody(body: ResponseBody): Promise<void> {
  return new Promise((resolve) => readResponseBody(body, MAX_DISCARDED_BYTES, () => resolve()));
}

export async function toRefusal({ statusCode, headers, body }: UpstreamResponse): Promise<HttpRefusal> {
  const content = await new Promise<BodyContent>((resolve) => readResponseBody(body, MAX_ERROR_BYTES, resolve));
  const text = content.kind === 'whole' ? content.bytes.toString() : '';
  return new HttpRefusal(statusCode, parseJsonOrText(text), retryAfterMs(headers['retry-after']));
}

export function mediaType({ headers }: UpstreamResponse): string {
  const given = headers['content-type'];
  if (given === 'application/json') return given;
  const [type = ''] = String(given ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

export function parseJsonOrText(text: string): unknown {
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
