// Where a person who is asked by `ask.person` answers in a browser. It is the page of every other question, with a session in the place
// of a call that waits: any process shows it, as long as the question waits.
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
  /** Who sends a request, where somebody can tell. */
  identify: () => Identify | undefined;
  /** A browser that `identify` does not know is taken for the person's, since it has the link. */
  trustsLinks: boolean;
}

export function personPage(sessions: Sessions, { server, identify, trustsLinks }: PersonPageOptions): HttpHandler {
  const { sealer, clock, log, baseUrl } = sessions.setup;
  return servePage({
    ...{ sealer, clock, log, words: wordsForOthers },
    links: { path: PERSON_PATH, open: (token) => openPersonToken(sealer, token) },
    owners: sealedOpeners(sessions.setup),
    round: (handle) => findPersonRound({ sessions, server, handle }),
    baseUrl: async () => (await baseUrl?.()) ?? 'http://127.0.0.1', // the Host of the request counts as well
    async isTheirs(principal, request) {
      const known = identify();
      if (!known) return true;
      const visitor = await known(request);
      return visitor === undefined ? trustsLinks : visitor === principal;
    },
  });
}
