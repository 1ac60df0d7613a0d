// Decides which calls need a person's approval. Deny wins over allow, and allow over ask.
import type { JsonObject } from '../../../kernel/message.ts';
import type { Origin, ToolRule } from '../../../kernel/step.ts';
import { toNameRule, toPermission, toToolRules } from '../../matching/name-rule.ts';
import { badOption } from '../../chain/step-options.ts';

/**
 * `destructive`: all tools except those annotated as read-only or not destructive; by the protocol, a tool without annotations
 * may be destructive. Any other text is a glob over names; a list may hold both.
 */
export type ApproveWhen = 'destructive' | 'always' | (string & {}) | string[];

export interface ApprovalRule {
  /** Globs: called without asking. */
  allow?: string[] | undefined;
  /** For all other tools. Default: `destructive`. */
  ask?: ApproveWhen | undefined;
  /** Globs: refused without asking. */
  deny?: string[] | undefined;
}

type Judgement = 'allow' | 'ask' | 'deny';

export interface JudgedTool {
  /** The name as this step sees it. */
  name: string;
  origin: Origin | undefined;
}

export interface Judge {
  /** Whether it needs the tools' annotations. */
  readonly byAnnotations: boolean;
  readonly rules: readonly ToolRule[];
  judge(tool: JudgedTool, annotations: () => Promise<JsonObject>): Promise<Judgement>;
}

export function readRule(when: ApproveWhen | ApprovalRule): Judge {
  const rule = toRule(when);
  const isDenied = toNameRule(checkGlobs('deny', rule.deny ?? []));
  const isAllowed = toPermission(checkGlobs('allow', rule.allow ?? []));
  const { ask = 'destructive' } = rule;
  const all = checkGlobs('ask', toList(ask));
  const byAnnotations = all.includes('destructive');
  const asked = all.filter((word) => word !== 'destructive' && word !== 'always');
  const isAsked = all.includes('always') ? () => true : toNameRule(asked);
  return {
    byAnnotations,
    rules: toToolRules([...(rule.deny ?? []), ...(rule.allow ?? []), ...asked]),
    async judge({ name, origin }, annotations) {
      if (isDenied(name, origin)) return 'deny';
      if (isAllowed(name, origin)) return 'allow';
      const isMeant = isAsked(name, origin) || (byAnnotations && mayDestroy(await annotations()));
      return isMeant ? 'ask' : 'allow';
    },
  };
}

/** A read-only tool destroys nothing, whatever its other annotations. */
function mayDestroy({ readOnlyHint, destructiveHint }: JsonObject): boolean {
  return readOnlyHint !== true && destructiveHint !== false;
}

function toRule(when: ApproveWhen | ApprovalRule): ApprovalRule {
  if (typeof when === 'string' || Array.isArray(when)) return { ask: when };
  if (typeof when !== 'object' || when === null)
    throw badOption('approve.when', 'must be a string, a list or an object');
  const foreign = Object.keys(when).find((key) => !['allow', 'ask', 'deny'].includes(key));
  if (foreign !== undefined) throw badOption(`approve.when.${foreign}`, 'is not an option; there are allow, ask, deny');
  return when;
}

function toList(ask: ApproveWhen): string[] {
  return typeof ask === 'string' ? [ask] : ask;
}

function checkGlobs(option: string, globs: string[]): string[] {
  const isList = Array.isArray(globs) && globs.every((glob) => typeof glob === 'string');
  if (!isList) throw badOption(`approve.when.${option}`, 'must be a list of globs');
  return globs;
}
