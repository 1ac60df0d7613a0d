// The one function that judges, for lists and calls. It sees what will run: the server, its own name for the thing, the method and the
// arguments, and never the path, the era or the spelling that a client used.
// 1. The first rule with an effect that matches decides; if none does, it is allowed. A method that is not in the method table needs a rule that
//    allows it: what it does is not known, and it may be what rules forbid tools to do.
// 2. What is unknown (the server of a custom method, the arguments in a list) is matched by rules that restrict, and not by rules that allow.
// 3. A list shows what some arguments make callable.
import type { RuleDecision } from '../../../kernel/audit.ts';
import { missingScopes, namesOfCaller } from '../../../kernel/exchange.ts';
import type { ClientView } from '../../../kernel/exchange.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { Origin } from '../../../kernel/step.ts';
import { REQUEST_METHODS } from '../../../kernel/methods.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { toShortName } from '../../../kernel/base/short-name.ts';
import { uriForms } from '../../matching/uri-rule.ts';
import type { UriForms } from '../../matching/uri-rule.ts';
import { qualifiedName } from '../../matching/name-rule.ts';
import type { Expression, ExpressionFacts } from './expression.ts';
import type { ReadyRule } from './read-rules.ts';
import { nameOfPrincipal } from './rule.ts';
import type { RuleAnnotation, RuleMark } from './rule.ts';
import type { RuleHistory } from './rule-history.ts';
import { StepBudget, isOutOfSteps } from './steps.ts';

type UseKind = 'tool' | 'prompt' | 'resource' | 'other';

/** Something that a client wants to use. */
export interface Use {
  readonly kind: UseKind;
  /** Undefined while it is not known which server would do it. */
  readonly origin: Pick<Origin, 'server' | 'name'> | undefined;
  /** The name if the origin is unknown: a URI. */
  readonly name: string;
  /** The same for all ways to use it: `tools/call`, `prompts/get`, `resources/read`; else the method itself. */
  readonly method: string;
  /** The method of the request, if it is another one. Only rules that restrict match it. */
  readonly asked?: string | undefined;
  /** Undefined in a list. */
  readonly args: unknown;
  /** It runs, and its arguments are not known: a rule that may forbid it does. */
  readonly mustBeSure?: boolean | undefined;
  /** Some arguments are not known yet, so a failing expression is not a fault of its rule. */
  readonly isPartial?: boolean | undefined;
  readonly annotations?: JsonObject | undefined;
}

interface JudgeOptions {
  rules: readonly ReadyRule[];
  /** By the text of the rule. */
  expressions: ReadonlyMap<string, Expression>;
  history: RuleHistory;
  /** All servers of the gateway. */
  servers: readonly string[];
  /** Those whose annotations the operator believes. */
  trustedAnnotations?: ReadonlySet<string> | undefined;
  /** Called once for each rule whose expression failed. */
  onFailed?: ((rule: string, reason: string) => void) | undefined;
}

export interface RuleJudgement {
  /** Undefined: it is allowed, since no rule matches. */
  decision: RuleDecision | undefined;
  /** What using it means for later calls. */
  marks: readonly RuleMark[];
}

/** A use with what is worked out once for all rules. */
interface Case {
  use: Use;
  client: ClientView;
  forms: UriForms | undefined;
  marks: readonly RuleMark[];
  /** For all expressions. */
  facts?: ExpressionFacts;
  budget?: StepBudget;
  hasHiddenKeys?: boolean;
}

interface Candidates {
  deciding: readonly ReadyRule[];
  marking: readonly ReadyRule[];
}

/** The first condition of a rule that does not hold. */
export type Mismatch = 'caller' | 'method' | 'name' | 'annotation' | 'marked' | 'after';

export interface ExplainedRule {
  readonly rule: string;
  /** Whether it decides, and what its conditions say. */
  readonly decides: boolean;
  readonly found: Mismatch | Truth;
}

/** In a list, an expression about arguments may be true or false. */
export type Truth = boolean | 'maybe' | 'failed' | 'endless';

const MAX_KNOWN = 10_000;
const NO_MARKS: readonly RuleMark[] = [];
/** A URI that can be read in several ways is not judged by its text, and an unknown method not by its name alone. */
const UNCLEAR: RuleDecision = { rule: 'rules', effect: 'deny' };

export class RuleJudge {
  readonly #options: JudgeOptions;
  readonly #deciding: readonly ReadyRule[];
  readonly #marking: readonly ReadyRule[];
  readonly #names: RuleNames;
  readonly #byName: boolean;
  /** The rules that a tool or prompt may meet, by kind, server and name. */
  readonly #candidates = new BoundedMap<string, Candidates>(MAX_KNOWN);
  readonly #failed = new Set<string>();

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#deciding = options.rules.filter(({ effect }) => effect !== undefined);
    this.#marking = options.rules.filter(({ marks }) => marks.length > 0);
    this.#names = new RuleNames(options.servers);
    this.#byName = options.rules.some(({ resource }) => resource !== undefined);
  }

  judge(use: Use, client: ClientView): RuleJudgement {
    const judged = this.#caseOf(use, client);
    if (judged === 'unclear') return { decision: UNCLEAR, marks: NO_MARKS };
    return { decision: this.#decide(judged), marks: judged.marks };
  }

  /** What became of each rule with an effect, in their order, up to the one that decides. */
  explain(use: Use, client: ClientView): readonly ExplainedRule[] {
    const judged = this.#caseOf(use, client);
    if (judged === 'unclear') return [];
    const { decision } = this.judge(use, client);
    const explained: ExplainedRule[] = [];
    for (const rule of this.#deciding) {
      const isNamedSo = this.#matchesName(rule, use, judged.forms);
      const found = isNamedSo ? (this.#mismatch(rule, judged) ?? this.#matches(rule, judged)) : 'name';
      const decides = found !== false && found !== 'name' && rule.name === decision?.rule;
      explained.push({ rule: rule.name, decides, found });
      if (decides) break;
    }
    return explained;
  }

  #decide(judged: Case): RuleDecision | undefined {
    for (const rule of this.#rulesFor(judged.use).deciding) {
      const truth = this.#matches(rule, judged);
      if (truth === 'failed') return { rule: rule.name, effect: 'deny' };
      if (truth === 'endless') return { rule: rule.name, effect: 'deny', isUnjudged: true };
      if (truth === true) return rule.decision;
      if (truth === 'maybe' && decidesMaybe(rule, judged.use)) return rule.decision;
    }
    return isKnown(judged.use) ? undefined : UNCLEAR;
  }

  #caseOf(use: Use, client: ClientView): Case | 'unclear' {
    const isUri = use.kind === 'resource';
    const forms = isUri ? uriForms(use.origin?.name ?? use.name) : undefined;
    if (isUri && !forms && this.#byName) return 'unclear';
    const judged: Case = { use, client, forms, marks: NO_MARKS };
    const { marking } = this.#rulesFor(use);
    if (marking.length === 0) return judged;
    // What may be marked is marked.
    const meant = marking.filter((rule) => this.#matches(rule, judged) !== false);
    judged.marks = [...new Set(meant.flatMap(({ marks }) => marks))];
    return judged;
  }

  /** Names of tools and prompts never change their meaning, so they are compared once. */
  #rulesFor(use: Use): Candidates {
    if (!isNamed(use)) return { deciding: this.#deciding, marking: this.#marking };
    const key = `${use.kind} ${use.origin!.server} ${use.origin!.name}`;
    return this.#candidates.getOrCreate(key, () => {
      const mayMeet = (rule: ReadyRule): boolean => this.#matchesName(rule, use, undefined);
      return { deciding: this.#deciding.filter(mayMeet), marking: this.#marking.filter(mayMeet) };
    });
  }

  #matches(rule: ReadyRule, judged: Case): Truth {
    if (this.#mismatch(rule, judged) !== undefined) return false;
    return rule.when === undefined ? true : this.#holds(rule, judged);
  }

  /** Of all conditions but its expression. */
  #mismatch(rule: ReadyRule, { use, client, forms, marks }: Case): Mismatch | undefined {
    if (!matchesCaller(rule, client)) return 'caller';
    if (!matchesMethod(rule, use)) return 'method';
    if (!isNamed(use) && !this.#matchesName(rule, use, forms)) return 'name';
    if (rule.annotation && !this.#hasAnnotation(rule.annotation, use)) return 'annotation';
    if (rule.marked && !rule.marked.some((mark) => marks.includes(mark))) return 'marked';
    if (rule.after && !this.#options.history.has(client, rule.after, rule)) return 'after';
    return undefined;
  }

  #matchesName(rule: ReadyRule, use: Use, forms: UriForms | undefined): boolean {
    const { kind, origin } = use;
    const isAllowing = rule.effect === 'allow';
    if (rule.server && !(origin ? rule.server(origin.server) : !isAllowing)) return false;
    if (!rule.namesKind) return true;
    if (kind === 'resource')
      return rule.resource !== undefined && (forms ? rule.resource(forms, this.#posing(origin)) : !isAllowing);
    const fits = kind === 'tool' ? rule.tool : kind === 'prompt' ? rule.prompt : undefined;
    if (!fits) return false;
    if (!origin) return !isAllowing;
    return this.#names.of(origin, isAllowing).some(fits);
  }

  /** Claims of a server whose annotations are not trusted cannot loosen a rule. */
  #hasAnnotation(words: readonly RuleAnnotation[], { kind, origin, annotations = {} }: Use): boolean {
    const isTrusted = origin !== undefined && this.#options.trustedAnnotations?.has(origin.server) === true;
    return kind === 'tool' && words.some((word) => claims(annotations, word, isTrusted));
  }

  #posing(origin: Use['origin']): Origin | undefined {
    return origin && { ...origin, isPosing: this.#names.isPosing(origin) };
  }

  #holds(rule: ReadyRule, judged: Case): Truth {
    const { use, forms } = judged;
    const expression = this.#options.expressions.get(rule.when!);
    if (!expression) return 'failed';
    if (expression.usesArguments && use.args === undefined) return 'maybe';
    if (use.args !== undefined && !isObject(use.args)) return 'failed';
    try {
      if (expression.usesArguments && (judged.hasHiddenKeys ??= hasHiddenKeys(use.args))) throw new Error(HIDDEN_KEYS);
      const budget = (judged.budget ??= new StepBudget());
      if (!forms) return expression.holds((judged.facts ??= this.#facts(judged, use.origin?.name ?? use.name)), budget);
      const holds = (name: string): boolean => expression.holds(this.#facts(judged, name), budget);
      if (rule.effect === 'allow') return [...forms.same, ...forms.cut].every(holds);
      return [...forms.same, ...forms.cut, ...forms.loose].some(holds);
    } catch (thrown) {
      if (thrown instanceof GatewayError) throw thrown; // the history is not known
      if (!use.isPartial && !this.#failed.has(rule.name)) {
        this.#failed.add(rule.name);
        this.#options.onFailed?.(rule.name, (thrown as Error).message.split('\n')[0]!);
      }
      return isOutOfSteps(thrown) ? 'endless' : 'failed';
    }
  }

  #facts({ use, client }: Case, name: string): ExpressionFacts {
    const { groups = [], scopes = [], claims: claimed = {}, headers = {} } = client.connection?.identity ?? {};
    const { kind, origin, method, args = {} } = use;
    const has = (mark: RuleMark) => this.#options.history.has(client, [mark], { per: 'principal', withinMs: Infinity });
    const history = { private: has('private'), untrusted: has('untrusted'), out: has('out') };
    const who = { ...toNamed(client), groups, scopes, claims: claimed, headers };
    return { ...who, server: origin?.server ?? '', kind, name, method, args: args as object, history };
  }
}

/** Says that it may not be used, and not which rule says so. */
export function toForbidden({ isUnjudged }: RuleDecision, what: string): GatewayError {
  return new GatewayError(isUnjudged ? 'TOO_LARGE_TO_JUDGE' : 'FORBIDDEN_BY_RULE', { what });
}

/** Whether it may be used, perhaps after a question. */
export function mayBeUsed(decision: RuleDecision | undefined): boolean {
  return decision === undefined || decision.effect === 'allow' || decision.effect === 'ask';
}

/** Whether it is known what it does. */
function isKnown({ kind, method }: Use): boolean {
  return kind !== 'other' || REQUEST_METHODS.has(method);
}

/** Whether the rules for it are found by its name, once. */
function isNamed({ kind, origin }: Use): boolean {
  return origin !== undefined && (kind === 'tool' || kind === 'prompt');
}

/** In a list, what some arguments make callable counts; for what runs, what some arguments would forbid. */
function decidesMaybe({ effect }: ReadyRule, { mustBeSure }: Use): boolean {
  return mustBeSure ? effect !== 'allow' : effect === 'allow' || effect === 'ask';
}

function matchesCaller({ principal, group, scope }: ReadyRule, client: ClientView): boolean {
  const identity = client.connection?.identity;
  if (
    principal &&
    !principal(nameOfPrincipal(client.principal)) &&
    !(identity && namesOfCaller(identity).some(principal))
  )
    return false;
  if (!group && !scope) return true;
  if (!identity) return false;
  if (group && !identity.groups?.some(group)) return false;
  return !scope || scope.some((one) => missingScopes(identity, [one]).length === 0);
}

function matchesMethod({ method, effect }: ReadyRule, { method: uses, asked }: Use): boolean {
  if (!method) return true;
  return method(uses) || (effect !== 'allow' && asked !== undefined && method(asked));
}

/** Missing hints have the protocol's defaults; a hint that the tool is harmless counts only if the annotations of the server are trusted. */
function claims(annotations: JsonObject, word: RuleAnnotation, isTrusted: boolean): boolean {
  const { readOnlyHint, destructiveHint, openWorldHint, idempotentHint } = annotations;
  if (word === 'destructive' || word === 'openWorld') {
    if (!isTrusted) return true;
    if (word === 'openWorld') return openWorldHint !== false;
    return destructiveHint === true || (readOnlyHint !== true && destructiveHint !== false);
  }
  return word === 'readOnly' ? readOnlyHint === true : idempotentHint === true;
}

const HIDDEN_KEYS = 'the arguments have a key "__proto__", which a server may take for keys that no rule has seen';

/** Many programs take `{"__proto__": {"path": …}}` for an object with a path. */
function hasHiddenKeys(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasHiddenKeys);
  for (const key in value) if (key === '__proto__' || hasHiddenKeys((value as JsonObject)[key])) return true;
  return false;
}

function toNamed({ principal, connection }: ClientView): Pick<ExpressionFacts, 'principal' | 'key' | 'user'> {
  const key = connection?.identity?.key ?? '';
  const name = nameOfPrincipal(principal);
  return {
    principal: key === '' ? name : `key:${key}`,
    key,
    user: name === 'anonymous' ? '' : name.replace(/^key:/, ''),
  };
}

type Named = Pick<Origin, 'server' | 'name'>;

/**
 * All names of a tool or prompt that a rule may mean: the server's own, `server__name`, and the public one where that is cut or has a hash.
 * They follow from the configuration alone, so they are the same at /mcp, /mcp/<server> and for groups.
 */
class RuleNames {
  readonly #servers: readonly string[];

  constructor(servers: readonly string[]) {
    this.#servers = servers;
  }

  /** `isPermission`: a server cannot gain the permission of another server by the names that it gives. */
  of(origin: Named, isPermission: boolean): string[] {
    const own = [origin.name, toShortName(origin.name)];
    const qualified = qualifiedName(origin);
    const named = [qualified, toShortName(qualified)];
    if (!isPermission) return [...new Set([...own, ...named])];
    return [...new Set([...(this.isPosing(origin) ? [] : own), ...(this.#isOwned(origin, qualified) ? named : [])])];
  }

  /** It gives one of its own things the qualified name of another server's. */
  isPosing({ server, name }: Named): boolean {
    return this.#servers.some((other) => other !== server && name.startsWith(`${other}__`));
  }

  /** Server names may contain `__`; the longest one owns a qualified name. */
  #isOwned({ server }: Named, qualified: string): boolean {
    return !this.#servers.some((other) => other.length > server.length && qualified.startsWith(`${other}__`));
  }
}
