// Reads what an HTTP request says: which content types its client accepts, and its body.
import { GatewayError } from '../../../shared/errors.ts';
import type { HttpRequest } from '../../../shared/http.ts';
import { boundVia } from '../../../shared/via.ts';

/**
 * Calls back with the body as text or with the error; never, if the client hangs up before. The limit applies to the announced length first,
 * then to what arrives.
 */
export function readRequestBody(
  request: HttpRequest,
  maxBytes: number,
  read: (text: string | GatewayError) => void,
): void {
  const done = boundVia(read);
  const tooLarge = () => new GatewayError('MESSAGE_TOO_LARGE', { limit: maxBytes, name: 'maxRequestBytes' });
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return done(tooLarge());
  if (request.readableEnded || request.bodyUsed) return done(alreadyRead(request));
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) return void chunks.push(chunk);
    request.removeAllListeners('data').removeAllListeners('end').resume();
    done(tooLarge());
  });
  request.on('end', () => done((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8')));
}

/** A body parser of the surrounding app may have consumed the stream; it leaves the result as `body`. */
function alreadyRead({ body }: HttpRequest & { body?: unknown }): string | GatewayError {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  if (typeof body === 'object' && body !== null) return JSON.stringify(body);
  return new GatewayError('BODY_READ_BEFORE');
}

export interface AcceptedTypes {
  json: boolean;
  stream: boolean;
}

const BOTH: AcceptedTypes = { json: true, stream: true };

/** Without the header, a client gets plain JSON. */
export function readAccept(accept: string | undefined): AcceptedTypes {
  if (accept === undefined) return { json: true, stream: false };
  if (accept === 'application/json, text/event-stream') return BOTH;
  const types = accept.split(',').map((type) => type.split(';')[0]!.trim().toLowerCase());
  const any = types.includes('*/*');
  return {
    json: any || types.includes('application/json') || types.includes('application/*'),
    stream: any || types.includes('text/event-stream') || types.includes('text/*'),
  };
}
