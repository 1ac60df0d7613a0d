// What a token holds for, and nothing else: a token shown by somebody else, to another server, for another tool or with other
// arguments does not open. The binding is authenticated with the token and takes no room in it.
import { hash } from 'node:crypto';
import { canonicalJson } from '../../shared/canonical-json.ts';

/** Is not changed once a token was opened or sealed with it. */
export interface TokenBinding {
  /** As in the header of the session: a hash, never the name. */
  principal: string;
  /** By which the token travels: `tools/call`, `interaction`, … */
  method: string;
  tool: string;
  /** The arguments of the call that is repeated with the token, where one is. */
  args?: unknown;
}

export function digestBinding(audience: string, { principal, method, tool, args }: TokenBinding): Buffer {
  const salient = [audience, principal, method, tool, args ?? null];
  return Buffer.from(hash('sha256', canonicalJson(salient), 'hex'), 'hex');
}
