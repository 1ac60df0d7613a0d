// One request to the page, with all that is known of it.
import type { Clock } from '../../../shared/clock.ts';
import type { HttpRequest } from '../../../shared/http.ts';
import type { Log } from '../../../shared/log.ts';
import type { Sealer } from '../../../shared/crypto/seal.ts';
import type { Closed, Round } from '../round.ts';
import type { Links } from './link.ts';
import type { Openers } from './openers.ts';
import type { Reply } from './reply.ts';
import type { Words } from './words/words.ts';

/** What all visits share. */
export interface Site {
  readonly links: Links;
  readonly openers: Openers;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxBytes: number;
}

export interface Visit extends Site {
  readonly request: HttpRequest;
  readonly reply: Reply;
  readonly words: Words;
  /** What the link carries, and whose it is. */
  readonly token: string;
  readonly handle: string;
  /** While there is one. */
  readonly round: Round | undefined;
  /** Why no round is open, where the holder of the link may know. */
  readonly closed: Closed['closed'] | undefined;
  /** The secret of the browser, if it is the one that opened the round. */
  readonly browser: string | undefined;
  /** Where browsers reach us. */
  readonly base: URL;
}
