// What a token holds for, and nothing else: a token shown by somebody else, to another server, for another tool or with other
// arguments does not open. The binding is authenticated with the token and takes no room in it.
import { hash } from 'node:crypto';
import { isObject } from '../../protocol/message.ts';
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

/** Callers of tools without arguments. */
const MAX_KNOWN = 1000;

/** `digestBinding` for one audience. Most requests have no arguments, and their digests are known; what others say in theirs is not kept. */
export function createDigests(audience: string): (binding: TokenBinding) => Buffer {
  const known = new Map<string, Buffer>();
  /** A request that brings a token and takes the next one away has one binding for both. */
  const own = new WeakMap<TokenBinding, Buffer>();
  return (binding) => {
    const { principal, method, tool, args } = binding;
    const name = hasNothing(args) ? JSON.stringify([principal, method, tool, args ?? null]) : undefined;
    const before = name === undefined ? own.get(binding) : known.get(name);
    if (before) return before;
    const digest = digestBinding(audience, binding);
    if (known.size >= MAX_KNOWN) known.clear();
    if (name === undefined) own.set(binding, digest);
    else known.set(name, digest);
    return digest;
  };
}

function hasNothing(args: unknown): boolean {
  if (args === undefined || args === null) return true;
  return isObject(args) && Object.keys(args).length === 0;
}
