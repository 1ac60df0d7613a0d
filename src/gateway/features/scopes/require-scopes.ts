// Calls of some tools need scopes that the caller's key or token may lack. The rules hold for a tool under every name it has.
import type { SupposedCall } from '../feature.ts';
import type { JudgedCall } from '../judged-call.ts';
import { missingScopes } from '../../../kernel/exchange.ts';
import { RUN_METHODS } from '../../../kernel/methods.ts';
import type { Origin, Step } from '../../../kernel/step.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { toNameRule, toToolRules } from '../../matching/name-rule.ts';

type ToolScopes = Readonly<Record<string, readonly string[]>>;
type Needed = (name: string, origin?: Origin) => readonly string[];

/** The innermost rule of a chain, so it judges what the server will get. */
export function requireScopes(toolScopes: ToolScopes): Step {
  const needed = toNeeded(toolScopes);
  return {
    name: 'scopes',
    methods: Object.keys(RUN_METHODS),
    toolRules: toToolRules(Object.keys(toolScopes)),
    handle(exchange, next, _lookUp, originOf) {
      const { identity } = exchange.client.connection ?? {};
      const name = String(exchange.params[RUN_METHODS[exchange.method]!.name]);
      const wanted = needed(name, originOf?.('tools', name));
      const missing = identity ? missingScopes(identity, wanted) : [];
      if (missing.length > 0) throw new GatewayError('INSUFFICIENT_SCOPE', { scope: wanted.join(' ') });
      return next();
    },
  };
}

/** What it would do with a call; undefined if the tool needs no scope. */
export function judgeScopes(toolScopes: ToolScopes, { client, server, tool }: SupposedCall): JudgedCall | undefined {
  const wanted = toNeeded(toolScopes)(tool, { server, name: tool });
  const { identity } = client.connection ?? {};
  if (wanted.length === 0 || !identity) return undefined;
  const missing = missingScopes(identity, wanted);
  const effect = missing.length > 0 ? 'deny' : 'allow';
  const why = missing.length > 0 ? `the caller lacks the scope ${missing.join(', ')}` : 'the caller has its scopes';
  return { by: 'scopes', effect, rule: 'auth.toolScopes', why, checked: [] };
}

/** For the check before a request is handled, when only the name that the client uses is known. */
export function neededScopesOf(toolScopes: ToolScopes | undefined): Needed | undefined {
  return toolScopes && toNeeded(toolScopes);
}

function toNeeded(toolScopes: ToolScopes): Needed {
  const rules = Object.entries(toolScopes).map(([pattern, scopes]) => ({ fits: toNameRule([pattern]), scopes }));
  return (name, origin) => [...new Set(rules.flatMap(({ fits, scopes }) => (fits(name, origin) ? scopes : [])))];
}
