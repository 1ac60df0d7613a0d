// Who looks at the console: a browser that was paired with this gateway (by the link of `parley open`, or with a code), a person who is logged in at its
// pages, or a program of the operator.
// 1. Browsers send cookies to every port of a host, so the cookie of a paired browser is for a path that other ports do not know, as at the answer page.
// 2. Seeing follows answering: a browser paired for a user, and a person who is logged in, see what is theirs. The operator sees everything.
// 3. Nothing here decides whose answers count: people/trust does.
import type { HttpRequest } from '../../../kernel/base/http.ts';
import { isSameSecret } from '../../../kernel/crypto/lazy-crypto.ts';
import type { VisitorProof } from '../../../people/page/prove-visitor.ts';
import { mayAnswer } from '../../../people/trust/may-answer.ts';
import type { ViewerView } from './views.ts';

export interface Viewer {
  readonly way: ViewerView['way'];
  readonly name: string;
  /** Undefined for the operator. */
  readonly user: string | undefined;
}

/** A program that was let in as the operator. */
export const OPERATOR_PROGRAM: Viewer = { way: 'token', name: 'operator', user: undefined };

/** In place of the secret part of the path, for people who are logged in. */
const LOGGED_IN = 'me';

export class Viewers {
  readonly #proof: VisitorProof;

  constructor(proof: VisitorProof) {
    this.#proof = proof;
  }

  /** `part`: the part of the path that is the browser's secret. */
  async find(part: string, request: HttpRequest): Promise<Viewer | undefined> {
    if (part === LOGGED_IN) {
      const user = await this.#proof.pageLogin?.visitorOf(request);
      return user === undefined ? undefined : { way: 'login', name: user, user };
    }
    const pairings = await this.#proof.pairings();
    if (!isSameSecret(part, await pairings.path())) return undefined;
    const paired = await pairings.find(request.headers.cookie);
    return paired && { way: 'browser', name: paired.name, user: paired.user };
  }
}

/** Whether the viewer sees what this principal does. */
export function maySee({ user }: Viewer, principal: string): boolean {
  return user === undefined || mayAnswer({ user }, principal);
}

export function toViewerView({ way, name, user }: Viewer): ViewerView {
  return { way, name, isOperator: user === undefined };
}
