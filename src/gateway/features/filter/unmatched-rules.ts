// Finds rules whose names or globs match nothing, and logs each once: a misspelled rule would otherwise go unnoticed. A step sees
// names as the inner steps show them, so the names at each place of the chain are recorded while tools are listed.
import { fieldOf } from '../../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type { Step, ToolRule } from '../../../kernel/step.ts';
import type { ListArea } from '../../../kernel/methods.ts';
import { LIST_PROMPTS, LIST_TOOLS } from '../../../kernel/methods.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { ANSWER_TOOL } from '../../../people/question-text.ts';
import { toMatcher } from '../../matching/name-rule.ts';
import { toListEntries } from '../../chain/list-entries.ts';
import { resultIn } from '../../chain/outcome.ts';
import type { ServerNames } from '../../router/router.ts';

interface RuleCheckOptions {
  log: Log;
  /** Rules that have been reported. */
  reported: Set<string>;
}

interface Ruled {
  step: Step;
  rules: readonly ToolRule[];
  /** Tool names as the step sees them. */
  seen: Set<string>;
  /** Whether an inner step renames prompts, so that their names here are unknown. */
  hasOtherPrompts: boolean;
}

const ADVICE = 'Correct or remove it; "parley ls tools" shows the names';
const OTHERS = ['prompts', 'resources', 'resourceTemplates'] as const;

export class RuleCheck {
  /** The same steps, each followed by one that records names. */
  readonly steps: readonly Step[];
  readonly #ruled: readonly Ruled[];
  readonly #options: RuleCheckOptions;

  constructor(steps: readonly Step[], options: RuleCheckOptions) {
    this.#options = options;
    this.#ruled = steps.map((step, index) => ({
      step,
      rules: step.toolRules ?? [],
      seen: new Set([ANSWER_TOOL]),
      hasOtherPrompts: steps.slice(index + 1).some(({ promptBehind, methods }) => promptBehind && lists(methods)),
    }));
    this.steps = this.#ruled.flatMap(({ step, seen }) => [step, noting(seen)]);
  }

  /** Call this after a list. Returns true when all rules have been checked. */
  async finish(result: ResultObject, namesOf: (area: ListArea) => Promise<ServerNames[]>): Promise<boolean> {
    if (fieldOf(result, 'nextCursor') !== undefined) return false;
    const tools = await namesOf('tools');
    const left = this.#ruled.flatMap((ruled) => ruled.rules.map((rule) => ({ ...ruled, rule })));
    const unmatched = left.filter(({ rule, seen }) => !isMatched(rule, tools, seen));
    const isGeneral = unmatched.some(({ rule }) => rule.isForAll);
    const [prompts = [], ...resources] = isGeneral ? await Promise.all(OTHERS.map(namesOf)) : [];
    const hasPrompts = prompts.some(({ names }) => names.length > 0);
    const known = unmatched.filter(({ rule }) => isKnown(rule, tools));
    for (const { step, rule, hasOtherPrompts } of known) {
      const mayBePrompt = rule.isForAll && hasPrompts && hasOtherPrompts;
      const isOther = rule.isForAll && isMatched(rule, [prompts, ...resources].flat());
      if (!mayBePrompt && !isOther) this.#report(step, rule);
    }
    return known.length === unmatched.length;
  }

  #report({ name: step }: Step, { pattern, server, isForAll }: ToolRule): void {
    const { log, reported } = this.#options;
    const key = JSON.stringify([step, server, pattern]);
    if (reported.has(key)) return;
    reported.add(key);
    const what = isForAll ? 'no tool, prompt or resource' : 'no tool';
    const whose = server === undefined ? 'of any server' : 'of this server';
    const place = server === undefined ? { step } : { server, in: `"tools" of the server ${server}` };
    log.warn({ ...place, rule: pattern, reason: `it matches ${what} ${whose}`, advice: ADVICE }, 'rule.unmatched');
  }
}

function lists(methods: readonly string[] | undefined): boolean {
  return methods === undefined || methods.includes(LIST_PROMPTS);
}

/** The URIs of a template are not known in advance. */
function isMatched(
  { pattern, server, isForAll }: ToolRule,
  named: readonly ServerNames[],
  seen?: ReadonlySet<string>,
): boolean {
  if (isForAll && pattern.includes(':')) return true;
  const fits = toMatcher([pattern]);
  const own = named.filter((one) => server === undefined || one.server === server);
  return own.some(({ names }) => names.some(fits)) || (server === undefined && [...(seen ?? [])].some(fits));
}

/** Whether all servers that the rule may concern have listed their names or failed. */
function isKnown({ server }: ToolRule, named: readonly ServerNames[]): boolean {
  return named.every((one) => one.isKnown || (server !== undefined && one.server !== server));
}

function noting(seen: Set<string>): Step {
  return {
    name: 'names',
    methods: [LIST_TOOLS],
    async handle(_exchange, next) {
      const outcome = await next();
      for (const { name } of toListEntries(fieldOf(resultIn(outcome), 'tools'))) seen.add(name);
      return outcome;
    },
  };
}
