// Binds a token to its principal, server, tool and arguments: it does not open for any other. The binding is authenticated with the token,
// but not stored in it.
import { hash } from 'node:crypto';
import { isObject } from '../../protocol/message.ts';
import { canonicalJson } from '../../shared/canonical-json.ts';
import { BoundedMap } from '../../shared/containers/bounded-map.ts';

/** Must not change after a token was opened or sealed with it. */
export interface TokenBinding {
  /** The hash from the session's header, never the name. */
  principal: string;
  /** The method that carries the token: `tools/call`, `interaction`, … */
  method: string;
  tool: string;
  /** The arguments of the call that is repeated with the token. */
  args?: unknown;
}

function digestBinding(audience: string, { principal, method, tool, args }: TokenBinding): Buffer {
  const salient = [audience, principal, method, tool, args ?? null];
  return Buffer.from(hash('sha256', canonicalJson(salient), 'hex'), 'hex');
}

/** Cached digests. */
const MAX_KNOWN = 1000;

/** `digestBinding` for one audience. Digests of requests without arguments are cached; arguments are never kept. */
export function createDigests(audience: string): (binding: TokenBinding) => Buffer {
  const known = new BoundedMap<string, Buffer>(MAX_KNOWN);
  /** The token of a request and the next token share one binding. */
  const own = new WeakMap<TokenBinding, Buffer>();
  return (binding) => {
    const { principal, method, tool, args } = binding;
    const name = hasNothing(args) ? JSON.stringify([principal, method, tool, args ?? null]) : undefined;
    if (name !== undefined) return known.getOrCreate(name, () => digestBinding(audience, binding));
    const digest = own.get(binding) ?? digestBinding(audience, binding);
    own.set(binding, digest);
    return digest;
  };
}

function hasNothing(args: unknown): boolean {
  if (args === undefined || args === null) return true;
  return isObject(args) && Object.keys(args).length === 0;
}
