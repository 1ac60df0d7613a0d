// One request to the page, with its context.
import type { Clock } from '../../../shared/clock.ts';
import type { HttpRequest, HttpResponse } from '../../../shared/http.ts';
import type { Log } from '../../../shared/log.ts';
import type { Sealer } from '../../../shared/crypto/seal.ts';
import type { ClosedRound, QuestionRound } from '../question-round.ts';
import type { Links } from './link.ts';
import type { PageOwners } from './page-owners.ts';
import type { PageReply } from './page-reply.ts';
import type { PageWords } from './locales/page-words.ts';

/** What all requests share. */
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
  readonly response: HttpResponse;
  readonly reply: PageReply;
  readonly words: PageWords;
  /** The sealed part of the link, and the handle in it. */
  readonly token: string;
  readonly handle: string;
  /** The round, while it is open. */
  readonly round: QuestionRound | undefined;
  /** Why the round is closed, if the holder of the link may know. */
  readonly closed: ClosedRound['closed'] | undefined;
  /** The browser's secret, if it owns the round. */
  readonly browser: string | undefined;
  /** Who is at the browser, if that had to be proven. */
  readonly who?: string | undefined;
  /** The URL at which browsers reach us. */
  readonly base: URL;
}
