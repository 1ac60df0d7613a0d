// The step that puts rules into effect. Requests are resolved first (which server, its own name), then judged (judge.ts), then let through,
// refused, or asked about.
// 1. Only listed tools and prompts can be used: a rule cannot know what a server would make of another spelling.
// 2. Lists show what the same function lets a client use.
// 3. What is hidden looks as if it did not exist.
import type { Outcome, Next, StepExchange, StepFunction } from '../../../kernel/step.ts';
import type { Exchange } from '../../../kernel/exchange.ts';
import { isObject, readString } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import {
  CALL_TOOL,
  FLOW_START,
  GET_PROMPT,
  LIST_METHOD_BY_AREA,
  READ_RESOURCE,
  RUN_METHODS,
  rowOf,
} from '../../../kernel/methods.ts';
import { isFollowUp } from '../../../kernel/interaction.ts';
import { toPlayAsCall } from '../../../kernel/flow/play-as-call.ts';
import { isGatewayTool } from '../../../kernel/gateway-tool.ts';
import { SERVER_KEY, isRemembered } from '../../../kernel/target.ts';
import type { Change } from '../../../kernel/target.ts';
import { kindNamedBy, readRef } from '../../../kernel/named-thing.ts';
import { dictionary } from '../../../kernel/containers/dictionary.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { respond } from '../../chain/outcome.ts';
import { toUnknownTool } from '../../chain/tool-annotations.ts';
import { listAllEntries, toListEntries } from '../../chain/list-entries.ts';
import type { ChainLookup } from '../../chain/map-names.ts';
import { whenStarted } from '../../chain/when-started.ts';
import { completedArguments, withValues } from '../../matching/completed-values.ts';
import type { SupposedCall } from '../feature.ts';
import type { JudgedCall } from '../judged-call.ts';
import { AskByRule } from './ask-by-rule.ts';
import type { Expression } from './expression.ts';
import { withoutNames } from './rules-setup.ts';
import type { KeptHistory, RulesSetup, RulesStep } from './rules-setup.ts';
import { RuleJudge, mayBeUsed, toForbidden } from './judge.ts';
import type { RuleJudgement, Use } from './judge.ts';
import { judgeSupposed } from './judge-supposed.ts';
import { readRules } from './read-rules.ts';
import { ResourceUse } from './resource-use.ts';
import { OwnRuleHistory } from './rule-history.ts';
import type { RuleHistory } from './rule-history.ts';
import { SharedRuleHistory } from './shared-rule-history.ts';
import { BegunUses, rulesDigest, RunningUse } from './running-use.ts';

export async function createRulesStep(setup: RulesSetup, kept: KeptHistory): Promise<RulesStep> {
  const { servers, trustedAnnotations, clock, log, state } = setup;
  const rules = readRules(setup.rules);
  const history = state.isShared
    ? new SharedRuleHistory({ state, clock, rules })
    : (kept.history ??= new OwnRuleHistory(clock));
  const expressions = await compileAll(rules);
  const onFailed = (rule: string, reason: string): void => log.warn({ rule, reason }, 'rule.failed');
  const judge = new RuleJudge({ rules, expressions, history, servers, trustedAnnotations, onFailed });
  return new Ruling({ judge, digest: rulesDigest(setup.rules), history, asking: new AskByRule(clock), kept });
}

/** The code for expressions is loaded only if a rule has one. */
export async function compileAll(
  rules: readonly { name: string; when: string | undefined }[],
): Promise<Map<string, Expression>> {
  const expressions = new Map<string, Expression>();
  if (rules.every(({ when }) => when === undefined)) return expressions;
  const { compileExpression } = await import('./expression.ts');
  for (const { name, when } of rules)
    if (when !== undefined) expressions.set(when, compileExpression(when, `${name}.when`));
  return expressions;
}

const LISTS: Readonly<Record<string, { area: string; key: string; kind: Use['kind'] }>> = dictionary({
  [LIST_METHOD_BY_AREA.tools]: { area: 'tools', key: 'name', kind: 'tool' },
  [LIST_METHOD_BY_AREA.prompts]: { area: 'prompts', key: 'name', kind: 'prompt' },
  [LIST_METHOD_BY_AREA.resources]: { area: 'resources', key: 'uri', kind: 'resource' },
  [LIST_METHOD_BY_AREA.resourceTemplates]: { area: 'resourceTemplates', key: 'uriTemplate', kind: 'resource' },
});

/** How each kind is used; other ways to use it are judged the same. */
export const USED_BY = { tool: CALL_TOOL, prompt: GET_PROMPT, resource: READ_RESOURCE } as const;

type Kind = 'tool' | 'prompt';

/** A request at its place in the chain. */
interface RuledRequest {
  exchange: StepExchange;
  next: Next;
  around: ChainLookup;
}

interface RulingParts {
  judge: RuleJudge;
  digest: string;
  history: RuleHistory;
  asking: AskByRule;
  kept: KeptHistory;
}

class Ruling implements RulesStep {
  readonly judge: RuleJudge;
  readonly digest: string;
  readonly history: RuleHistory;
  readonly #asking: AskByRule;
  readonly #listed = new ListedNames();
  readonly #resources: ResourceUse;
  readonly #around: ConstructorParameters<typeof RunningUse>[0];

  constructor({ judge, digest, history, asking, kept }: RulingParts) {
    this.judge = judge;
    this.digest = digest;
    this.history = history;
    this.#asking = asking;
    this.#resources = new ResourceUse({ judge, history, asking });
    this.#around = { rules: this, begun: (kept.begun ??= new BegunUses()), current: () => kept.current };
  }

  suppose(call: SupposedCall): Promise<JudgedCall> {
    return judgeSupposed(call, this);
  }

  readonly onChange: RulesStep['onChange'] = (change) => {
    this.#listed.hear(change);
    return withoutNames(change);
  };

  readonly handle: StepFunction = (exchange, next, lookUp, originOf) => {
    const loading = this.history.load(exchange.client);
    const around = { lookUp, originOf };
    return loading ? loading.then(() => this.#handle(exchange, next, around)) : this.#handle(exchange, next, around);
  };

  #handle(exchange: StepExchange, next: Next, around: ChainLookup): Promise<Outcome> | Outcome {
    const { method, params } = exchange;
    const row = rowOf(method);
    const kind = kindNamedBy(method);
    if (kind === 'resource') return this.#resources.handle(readString(params, row!.named!), exchange, next, around);
    if (kind) return this.#named(kind, readString(params, row!.named!), { exchange, next, around });
    if (row?.kind === 'completion') return this.#complete(exchange, next, around);
    if (LISTS[method]) return this.#list(exchange, next, around);
    return isFollowUp(method) ? this.#goOn(exchange, next) : this.#custom(exchange, next);
  }

  #named(kind: Kind, name: string, { exchange, next, around }: RuledRequest) {
    // The gateway's own tool only delivers an answer.
    if (kind === 'tool' && exchange.ownTool?.name === name) return next();
    const known = this.#listed.find(kind, name, exchange);
    if (known) return this.#use(this.#toUse(kind, name, exchange, { around, annotations: known }), exchange, next);
    return this.#listed.require(kind, name, exchange, around).then((annotations) => {
      if (!annotations) throw this.#unlisted(kind, name, exchange, around);
      return this.#use(this.#toUse(kind, name, exchange, { around, annotations }), exchange, next);
    });
  }

  /** Why it is not listed, unless it would be hidden anyway. */
  #unlisted(kind: Kind, name: string, exchange: StepExchange, around: ChainLookup): Error {
    const reason = around.originOf?.(`${kind}s`, name)?.away?.();
    const use = reason && this.#toUse(kind, name, exchange, { around, annotations: {} });
    const isHidden = use && this.judge.judge(use, exchange.client).decision?.effect === 'hide';
    return reason && !isHidden ? reason : toUnknown(kind, name, exchange);
  }

  #toUse(
    kind: Kind,
    name: string,
    exchange: StepExchange,
    { around, annotations }: { around: ChainLookup; annotations: JsonObject },
  ): Use {
    const { method, params } = exchange;
    const origin = around.originOf?.(`${kind}s`, name) ?? { server: exchange.owner ?? '', name };
    const args = params[RUN_METHODS[method]?.args ?? 'arguments'] ?? {};
    return { kind, origin, name, method: USED_BY[kind as 'tool'], asked: method, args, annotations };
  }

  #use(use: Use, exchange: StepExchange, next: Next): Promise<Outcome> | Outcome {
    const judgement = this.judge.judge(use, exchange.client);
    const { decision } = judgement;
    if (decision) exchange.decision = decision;
    if (!decision || decision.effect === 'allow') return this.#run(use, judgement, exchange, next);
    const { kind, name } = use;
    resolved(use, exchange);
    if (decision.effect === 'hide') throw toUnknown(kind, name, exchange);
    if (decision.effect === 'deny') {
      const refusal = toForbidden(decision, name);
      if (exchange.method === CALL_TOOL) return respond(refused(refusal));
      throw refusal;
    }
    // There is no session yet in which to ask, so the client has to make an ordinary call.
    if (exchange.method === FLOW_START) return respond(toPlayAsCall({ tool: name, wantedBy: 'step' }));
    return this.#asking.ask(use, exchange, () => this.#run(use, judgement, exchange, next));
  }

  #run(use: Use, judgement: RuleJudgement, exchange: StepExchange, next: Next): Promise<Outcome> {
    exchange.runGuard = new RunningUse(this.#around, exchange, use);
    return this.#pass(judgement, exchange, next);
  }

  /** Marked before it runs, so that calls at the same time count. */
  #pass({ marks }: RuleJudgement, exchange: StepExchange, next: Next): Promise<Outcome> {
    const noting = marks.length > 0 ? this.history.note(exchange.client, marks) : undefined;
    return noting ? goOnAfter(noting, next) : next();
  }

  /** Which task or session it is about is known to the router. */
  #goOn(exchange: StepExchange, next: Next): Promise<Outcome> {
    exchange.runGuard = new RunningUse(this.#around, exchange);
    return next();
  }

  async #list(exchange: StepExchange, next: Next, { originOf }: ChainLookup): Promise<Outcome> {
    const { area, key, kind } = LISTS[exchange.method]!;
    const outcome = await next();
    const entries = outcome.result[area];
    if (!Array.isArray(entries)) return outcome;
    if (kind === 'tool' || kind === 'prompt') this.#listed.learn(kind, exchange, entries);
    const shown = entries.filter((entry: unknown) => {
      if (!isObject(entry) || isGatewayTool(entry)) return true;
      const name = String(entry[key]);
      const origin = originOf?.(kind === 'tool' ? 'tools' : kind === 'prompt' ? 'prompts' : 'resources', name);
      const isUri = kind === 'resource';
      return this.#isShown(
        {
          kind,
          name,
          origin: origin ?? (isUri ? undefined : { server: exchange.owner ?? '', name }),
          ...(isObject(entry.annotations) && { annotations: entry.annotations }),
        },
        exchange,
      );
    });
    outcome.result = { ...outcome.result, [area]: shown, ...forOneCaller(outcome.result) };
    return outcome;
  }

  #isShown(thing: Pick<Use, 'kind' | 'name' | 'origin' | 'annotations'>, { client }: Exchange): boolean {
    const args = thing.kind === 'resource' ? {} : undefined; // a resource has no arguments
    const use = { ...thing, method: USED_BY[thing.kind as 'tool'], args };
    return mayBeUsed(this.judge.judge(use, client).decision);
  }

  /** Clients complete on every keystroke: what may not be used gets no suggestions instead of an error. */
  async #complete(exchange: StepExchange, next: Next, around: ChainLookup): Promise<Outcome> {
    const about = readRef(exchange.params);
    if ('template' in about) return this.#resources.complete(about.template, exchange, next, around);
    const { prompt } = about;
    const annotations = await this.#listed.require('prompt', prompt, exchange, around);
    const use = { ...this.#toUse('prompt', prompt, exchange, { around, annotations: {} }), args: undefined };
    const { decision } = this.judge.judge(use, exchange.client);
    if (decision) exchange.decision = decision;
    if (!annotations || !mayBeUsed(decision)) return respond({ completion: { values: [], total: 0, hasMore: false } });
    return withValues(await next(), (value) => {
      const args = completedArguments(exchange.params, value);
      return mayBeUsed(this.judge.judge({ ...use, args, isPartial: true }, exchange.client).decision);
    });
  }

  /** Nobody can be shown what a custom method would do, so a rule that asks forbids it. */
  #custom(exchange: StepExchange, next: Next): Promise<Outcome> | Outcome {
    const { method, params, owner } = exchange;
    const named = isObject(params._meta) ? params._meta[SERVER_KEY] : undefined;
    const server = owner ?? (typeof named === 'string' ? named : undefined);
    const origin = server === undefined ? undefined : { server, name: method };
    const judgement = this.judge.judge({ kind: 'other', origin, name: method, method, args: params }, exchange.client);
    const { decision } = judgement;
    if (decision) exchange.decision = decision;
    if (!decision || decision.effect === 'allow') return this.#pass(judgement, exchange, next);
    if (exchange.isNotification) return respond({});
    if (decision.effect === 'hide') throw new GatewayError('METHOD_NOT_FOUND', { method });
    throw toForbidden(decision, method);
  }
}

async function goOnAfter(noting: Promise<void>, next: Next): Promise<Outcome> {
  await noting;
  return next();
}

/** What does not reach the router is recorded with its server, and the server's own name. */
function resolved({ origin }: Use, exchange: StepExchange): void {
  if (!origin) return;
  exchange.server = origin.server;
  if (exchange.observed) exchange.observed.name = origin.name;
}

/** What was judged for one caller is kept for no other. */
function forOneCaller({ cacheScope }: JsonObject): JsonObject {
  return cacheScope === 'public' ? { cacheScope: 'private' } : {};
}

function toUnknown(kind: Use['kind'], name: string, { method }: Exchange): GatewayError {
  return kind === 'prompt' ? new GatewayError('PROMPT_NOT_FOUND', { name }) : toUnknownTool(method, name);
}

/** Models read results better than errors. */
function refused({ message }: GatewayError): JsonObject {
  return { content: [{ type: 'text', text: `${message}. It was not called. Do not try again.` }], isError: true };
}

const MAX_NAMES = 10_000;
const NO_CLAIMS: JsonObject = {};

/** The tools and prompts that lists have shown, with the claims about them; missing ones are looked up. */
class ListedNames {
  readonly #known = {
    tool: new BoundedMap<string, JsonObject>(MAX_NAMES),
    prompt: new BoundedMap<string, JsonObject>(MAX_NAMES),
  };

  /** The annotations; undefined if no list has shown it. */
  find(kind: Kind, name: string, { scope }: StepExchange): JsonObject | undefined {
    return this.#known[kind].peek(`${scope} ${name}`);
  }

  /** The same after listing. Rejects if there is no list, because then it is unknown what would run. */
  async require(
    kind: Kind,
    name: string,
    exchange: StepExchange,
    { lookUp, originOf }: ChainLookup,
  ): Promise<JsonObject | undefined> {
    const known = this.find(kind, name, exchange);
    if (known) return known;
    await whenStarted(`${kind}s`, name, exchange, originOf);
    this.learn(kind, exchange, await listAllEntries(lookUp, `${kind}s`));
    return this.find(kind, name, exchange);
  }

  learn(kind: Kind, { scope }: StepExchange, entries: unknown): void {
    for (const entry of toListEntries(entries)) {
      if (isGatewayTool(entry) || isRemembered(entry)) continue; // a server may have a tool of the same name as ours
      this.#known[kind].set(`${scope} ${entry.name}`, isObject(entry.annotations) ? entry.annotations : NO_CLAIMS);
    }
  }

  hear({ kind }: Change): void {
    if (kind === 'tools') this.#known.tool.clear();
    if (kind === 'prompts') this.#known.prompt.clear();
  }
}
