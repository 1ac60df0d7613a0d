// A response of a server whose head has come, and what follows from it.
import { parseJsonOrText, readResponseBody, retryAfterMs } from './http-body.ts';
import type { BodyContent, ResponseBody } from './http-body.ts';
import { HttpRefusal } from './http-refusal.ts';

/** A repeated header is a list. */
export type HttpHeaders = Record<string, string | string[] | undefined>;

export interface UpstreamResponse {
  statusCode: number;
  headers: HttpHeaders;
  body: ResponseBody;
}

/** An error body in JSON-RPC is evidence for the era probe; any other is an error page. */
const MAX_ERROR_BYTES = 256 * 1024;

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
