// The page where a person (`ask.person`) answers in a browser. It is the ask page of the gateway over a session instead of a waiting call, so
// every process can show it while the question is open.
import { servePage } from '../../gateway/ask/page/ask-page.ts';
import { wordsForOthers } from '../../gateway/ask/page/locales/page-words.ts';
import type { HttpHandler, HttpRequest } from '../../shared/http.ts';
import { PERSON_PATH, openPersonToken } from '../session/external/person-link.ts';
import type { Sessions } from '../session/sessions.ts';
import { findPersonRound } from './person-round.ts';
import { sealedOpeners } from './sealed-openers.ts';

type Identify = (request: HttpRequest) => Promise<string | undefined>;

export interface PersonPageOptions {
  /** The name of the server, for the person. */
  server: string;
  /** Identifies the sender of a request, if the server can. */
  identify: () => Identify | undefined;
  /** Trust a browser that `identify` does not know, because it has the link. */
  trustsLinks: () => boolean;
}

export function personPage(sessions: Sessions, { server, identify, trustsLinks }: PersonPageOptions): HttpHandler {
  const { sealer, clock, log, baseUrl } = sessions.context;
  return servePage({
    sealer,
    clock,
    log,
    words: wordsForOthers,
    links: { path: PERSON_PATH, open: (token) => openPersonToken(sealer, token) },
    owners: sealedOpeners(sessions.context),
    round: (handle) => findPersonRound({ sessions, server, handle }),
    baseUrl: async () => (await baseUrl?.()) ?? 'http://127.0.0.1', // the Host of the request counts as well
    async isTheirs(principal, request) {
      const known = identify();
      if (!known) return true;
      const visitor = await known(request);
      return visitor === undefined ? trustsLinks() : visitor === principal;
    },
  });
}
