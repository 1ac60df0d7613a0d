// Binds the link of a person to the browser that opens it first. A question may be open for days and any process may show it, so the browser
// keeps the state in a sealed cookie, and the store only remembers that the link was opened.
import { hash } from 'node:crypto';
import { cookieName } from '../../gateway/ask/page/page-owners.ts';
import type { PageOwners } from '../../gateway/ask/page/page-owners.ts';
import type { RoundAnswer, QuestionRound } from '../../gateway/ask/question-round.ts';
import { randomId } from '../../shared/crypto/ids.ts';
import { cookiesNamed } from '../../shared/net/browser-request.ts';
import { readPersonHandle } from '../session/external/person-link.ts';
import type { SessionContext } from '../session/session-context.ts';

const PURPOSE = 'flow-person-browser';

export function sealedOpeners({ sealer, store, clock, limits }: SessionContext): PageOwners {
  const open = (handle: string, cookies: string | undefined): [string, RoundAnswer['action']?] | undefined => {
    const [content] = cookiesNamed(cookieName(handle), cookies);
    return content === undefined ? undefined : (sealer.open(PURPOSE, handle, content) as [string]);
  };
  return {
    async bind({ handle, expiresAt }: QuestionRound) {
      const stored = await store.load(readPersonHandle(handle).sessionId);
      // The question may be asked again and its session be parked; the link must stay bound all that time.
      const until = Math.max(expiresAt, stored?.header.deadline ?? 0) + limits.parkedMs;
      const isFirst = await store.spend(toSpent(handle), 0, until - clock.now());
      return isFirst ? sealer.seal(PURPOSE, handle, [randomId()]) : undefined;
    },
    isBound: () => false, // known only when it is opened
    browserOf: (handle, cookies) => open(handle, cookies)?.[0],
    settle: (handle, browser, outcome) => sealer.seal(PURPOSE, handle, [browser, outcome]),
    outcomeOf: (handle, cookies) => open(handle, cookies)?.[1],
  };
}

function toSpent(handle: string): string {
  return hash('sha256', `mcp-parley/person-link\0${handle}`, 'base64url');
}
