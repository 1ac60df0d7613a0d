// Judges reads and subscriptions. Which server a URI leads to is known for sure only when the router has found it, so it is judged there
// (`resourceGuard`); but a person has to be asked before that.
import type { Exchange, ResourceGuard } from '../../../kernel/exchange.ts';
import type { Next, Outcome, StepExchange } from '../../../kernel/step.ts';
import {
  COMPLETE_ARGUMENT,
  LIST_RESOURCES,
  LIST_TEMPLATES,
  READ_RESOURCE,
  UNSUBSCRIBE_RESOURCE,
} from '../../../kernel/methods.ts';
import { fieldOf } from '../../../kernel/raw/raw-object.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { respond, resultIn } from '../../chain/outcome.ts';
import type { ChainLookup } from '../../chain/map-names.ts';
import type { AskByRule } from './ask-by-rule.ts';
import { completedArguments, expandTemplate, withValues } from '../../matching/completed-values.ts';
import { mayBeUsed } from './judge.ts';
import type { RuleJudgement, RuleJudge, Use } from './judge.ts';
import type { RuleHistory } from './rule-history.ts';

interface ResourceUseOptions {
  judge: RuleJudge;
  history: RuleHistory;
  asking: AskByRule;
}

export class ResourceUse {
  readonly #options: ResourceUseOptions;

  constructor(options: ResourceUseOptions) {
    this.#options = options;
  }

  handle(uri: string, exchange: StepExchange, next: Next, around: ChainLookup): Promise<Outcome> | Outcome {
    const use = toUse(uri, exchange, around.originOf?.('resources', uri));
    const judgement = this.#judge(use, exchange);
    const { decision } = judgement;
    if (use.origin || !decision || decision.effect === 'allow') return this.#act(use, judgement, exchange, next);
    // While the server is unknown, a rule that restricts may be about another one: only the lists tell.
    const lists = [around.lookUp(LIST_RESOURCES), around.lookUp(LIST_TEMPLATES)];
    return Promise.allSettled(lists).then(() => {
      const found = toUse(uri, exchange, around.originOf?.('resources', uri));
      return this.#act(found, this.#judge(found, exchange), exchange, next);
    });
  }

  #act(use: Use, judgement: RuleJudgement, exchange: StepExchange, next: Next): Promise<Outcome> {
    const { decision } = judgement;
    if (use.origin && !mayBeUsed(decision)) throw toRefusal(judgement, use, exchange);
    if (decision?.effect !== 'ask' || exchange.method === UNSUBSCRIBE_RESOURCE) return this.#pass(use, exchange, next);
    exchange.decision = decision;
    return this.#options.asking.ask(use, exchange, () => this.#pass(use, exchange, next, true));
  }

  /** A template is complete if it is listed. */
  async complete(uri: string, exchange: StepExchange, next: Next, { originOf }: ChainLookup): Promise<Outcome> {
    const use = toUse(uri, exchange, originOf?.('resources', uri));
    let template: Use['origin'];
    const { resourceGuard } = exchange;
    exchange.resourceGuard = (resource) => {
      template = resource;
      return resourceGuard?.(resource) !== false;
    };
    try {
      const outcome = await this.#pass(use, exchange, next, true);
      return withValues(outcome, (value) => this.#mayBeRead(use, template ?? use.origin, exchange, value));
    } catch (thrown) {
      if (!isDenied(thrown)) throw thrown;
      return respond({ completion: { values: [], total: 0, hasMore: false } });
    }
  }

  /** Whether the template with this value is a resource that the client may read. */
  #mayBeRead(use: Use, template: Use['origin'], { client, params }: StepExchange, value: string): boolean {
    const expand = (uri: string): string => expandTemplate(uri, completedArguments(params, value));
    const origin = template && { ...template, name: expand(template.name) };
    const read = { ...use, name: expand(use.name), origin, isPartial: true };
    return mayBeUsed(this.#options.judge.judge(read, client).decision);
  }

  async #pass(
    use: Use,
    exchange: StepExchange,
    next: Next,
    isApproved = exchange.method === UNSUBSCRIBE_RESOURCE,
  ): Promise<Outcome> {
    let refused: RuleJudgement | undefined;
    let noting: Promise<unknown> | undefined;
    const { resourceGuard } = exchange;
    const guard: ResourceGuard = (resource) => {
      const judgement = this.#judge({ ...use, origin: resource }, exchange);
      const { decision, marks } = judgement;
      const isAllowed =
        decision === undefined || decision.effect === 'allow' || (decision.effect === 'ask' && isApproved);
      if (isAllowed && marks.length > 0 && exchange.method !== COMPLETE_ARGUMENT) {
        noting = bothOf(noting, this.#options.history.note(exchange.client, marks));
        noting?.catch(() => {}); // told below, if the server answers
      }
      if (!isAllowed) refused ??= judgement;
      return isAllowed && resourceGuard?.(resource) !== false;
    };
    exchange.resourceGuard = guard;
    try {
      const outcome = await next();
      if (noting) await noting; // nobody has read it before that is known
      if (fieldOf(resultIn(outcome), 'cacheScope') === 'public')
        outcome.result = { ...outcome.result, cacheScope: 'private' }; // judged for one caller
      return outcome;
    } catch (thrown) {
      throw refused && isDenied(thrown) ? toRefusal(refused, use, exchange) : thrown;
    } finally {
      if (exchange.resourceGuard === guard) exchange.resourceGuard = resourceGuard;
    }
  }

  #judge(use: Use, exchange: StepExchange): RuleJudgement {
    const judgement = this.#options.judge.judge(use, exchange.client);
    if (judgement.decision && use.origin) exchange.decision = judgement.decision;
    return judgement;
  }
}

function toUse(uri: string, { method }: Exchange, origin: Use['origin']): Use {
  return { kind: 'resource', name: uri, origin, method: READ_RESOURCE, asked: method, args: {} };
}

function toRefusal({ decision }: RuleJudgement, { name: uri, origin }: Use, exchange: StepExchange): GatewayError {
  if (decision) exchange.decision = decision;
  if (origin) exchange.server ??= origin.server;
  if (decision?.effect === 'hide') return new GatewayError('RESOURCE_NOT_FOUND', { uri });
  return new GatewayError('ACCESS_DENIED', { uri });
}

/** Done when both are. */
function bothOf(one: Promise<unknown> | undefined, other: Promise<unknown> | undefined): Promise<unknown> | undefined {
  if (!one || !other) return one ?? other;
  return Promise.all([one, other]);
}

function isDenied(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.code === 'ACCESS_DENIED';
}
