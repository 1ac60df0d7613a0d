// Counts what waits in a response for its reader against the byte budget of the process. One who reads nothing is cut off when the
// budget needs it.
import { HeldShare, UNCOUNTED_BYTES } from '../../shared/held-bytes.ts';
import { addressOf } from '../../shared/net/network-of.ts';
import type { HttpRequest, HttpResponse } from '../../shared/http.ts';
import type { Limits } from '../../shared/limits.ts';
import type { Log } from '../../shared/log.ts';

export interface UnsentContext {
  readonly limits: Pick<Limits, 'maxHeldBytes'>;
  readonly log: Log;
}

const holdings = new WeakMap<HttpResponse, HeldShare>();

/** Call it after each write. */
export function holdUnsent(response: HttpResponse, { limits, log }: UnsentContext): void {
  const bytes = response.writableLength;
  const known = holdings.get(response);
  if (known) return void known.set(bytes);
  if (bytes <= UNCOUNTED_BYTES || response.destroyed) return;
  const cut = (): void => {
    log.warn({ bytes: response.writableLength, limit: 'maxHeldBytes' }, 'client.too-slow');
    response.destroy();
  };
  const { req: request } = response as { req?: HttpRequest }; // of Node
  const owner = `unread:${request ? addressOf(request) : ''}`;
  const holding = new HeldShare({ owner, maxBytes: limits.maxHeldBytes, cut });
  holdings.set(response, holding);
  response.on('drain', () => holding.set(response.writableLength));
  for (const end of ['close', 'finish']) response.once(end, () => holding.release());
  holding.set(bytes);
}
