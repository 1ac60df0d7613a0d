// Whose account at a server it is.
import type { Identity } from '../../../kernel/exchange.ts';

/** The account of one principal. */
export interface Account {
  readonly principal: string;
  /** As of the latest request. */
  identity: Identity | undefined;
  /** The Authorization header of the latest request, for token exchange; never sent to a server. */
  authorization: string | undefined;
}
