// Reads what an HTTP request says: which content types its client accepts, and its body.
import { GatewayError } from '../../../shared/errors.ts';
import { ARRIVING_COPIES, HeldShare, UNCOUNTED_BYTES } from '../../../shared/held-bytes.ts';
import type { HttpRequest, HttpResponse } from '../../../shared/http.ts';
import { VIA_HEADER, boundVia } from '../../../shared/via.ts';
import { readInTurns } from '../../codec/paced-reader.ts';

/**
 * Calls back with the body as text or with the error; never, if the client hangs up before. The limit applies to the announced length first,
 * then to what arrives.
 */
export function readRequestBody(
  request: HttpRequest,
  maxBytes: number,
  read: (text: string | GatewayError) => void,
  budget?: () => BodyBudget,
): void {
  const done = request.headers[VIA_HEADER] === undefined ? read : boundVia(read);
  const tooLarge = () => new GatewayError('MESSAGE_TOO_LARGE', { limit: maxBytes, name: 'maxRequestBytes' });
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return done(tooLarge());
  if (request.readableEnded || request.bodyUsed) return done(alreadyRead(request));
  const chunks: Buffer[] = [];
  let size = 0;
  let holding: HeldShare | undefined;
  const refuse = (error: GatewayError): void => {
    chunks.length = 0;
    request.removeAllListeners('data').removeAllListeners('end').resume();
    done(error);
  };
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) return refuse(tooLarge());
    chunks.push(chunk);
    if (!budget || size <= UNCOUNTED_BYTES) return;
    holding ??= holdBody(request, budget(), refuse);
    holding.set(size * ARRIVING_COPIES);
    readInTurns(request, size, chunk.length);
  });
  request.on('end', () => {
    holding?.keep();
    const text = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8');
    chunks.length = 0; // this closure lives as long as the call
    holding?.set(size);
    done(text);
  });
}

/** What a body that is being read counts against. */
export interface BodyBudget {
  response: HttpResponse;
  owner: string;
  /** `limits.maxHeldBytes`. */
  maxBytes: number;
}

/** The body counts until the answer has ended: the call has it meanwhile. Only while it arrives can it be refused. */
function holdBody(
  request: HttpRequest,
  { response, owner, maxBytes }: BodyBudget,
  refuse: (error: GatewayError) => void,
): HeldShare {
  const cut = (): void => {
    response.once('finish', () => request.destroy()); // the rest is not wanted
    refuse(new GatewayError('TOO_MANY', { what: 'bytes at once', limit: 'maxHeldBytes' }));
  };
  const holding = new HeldShare({ owner, maxBytes, cut });
  response.once('close', () => holding.release());
  return holding;
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
