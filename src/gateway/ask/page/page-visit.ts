// One request to the page, with all that is known of it.
import type { Clock } from '../../../shared/clock.ts';
import type { HttpRequest } from '../../../shared/http.ts';
import type { Log } from '../../../shared/log.ts';
import type { Sealer } from '../../../shared/crypto/seal.ts';
import type { ClosedRound, QuestionRound } from '../question-round.ts';
import type { Links } from './link.ts';
import type { PageOwners } from './page-owners.ts';
import type { PageReply } from './page-reply.ts';
import type { PageWords } from './locales/page-words.ts';

/** What all visits share. */
export interface PageContext {
  readonly links: Links;
  readonly owners: PageOwners;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxBytes: number;
}

export interface PageVisit extends PageContext {
  readonly request: HttpRequest;
  readonly reply: PageReply;
  readonly words: PageWords;
  /** What the link carries, and whose it is. */
  readonly token: string;
  readonly handle: string;
  /** While there is one. */
  readonly round: QuestionRound | undefined;
  /** Why no round is open, where the holder of the link may know. */
  readonly closed: ClosedRound['closed'] | undefined;
  /** The secret of the browser, if it is the one that opened the round. */
  readonly browser: string | undefined;
  /** Where browsers reach us. */
  readonly base: URL;
}
