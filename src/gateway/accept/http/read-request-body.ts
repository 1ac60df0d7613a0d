// The body of a POST as text, bounded before it is read: by its announced length at once, by what arrives otherwise.
import { GatewayError } from '../../../shared/errors.ts';
import type { HttpRequest } from '../../../shared/http.ts';
import { boundVia } from '../../../shared/via.ts';

/** Calls back with the text, or with the reason why there is none. A client that hangs up in between is never heard of. */
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

/** A body parser of the app that we are mounted in was here before; it leaves what it has read as `body`. */
function alreadyRead({ body }: HttpRequest & { body?: unknown }): string | GatewayError {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  if (typeof body === 'object' && body !== null) return JSON.stringify(body);
  return new GatewayError('BODY_READ_BEFORE');
}
