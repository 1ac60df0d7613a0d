// Asks a person before a tool is called, through any channel that reaches the client's user. Nothing reaches the server before a
// yes. Anything else, including silence, is a no, which the model gets as a readable result. A call is asked about only once,
// however often an outer step retries it and however many rules apply.
import { toPlayAsCall } from '../../../kernel/flow/play-as-call.ts';
import { readString } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { Step, StepExchange } from '../../../kernel/step.ts';
import { CALL_TOOL, LIST_TOOLS, RUN_METHODS } from '../../../kernel/methods.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { ToolAnnotations } from '../../chain/tool-annotations.ts';
import { respond } from '../../chain/outcome.ts';
import { withDefaults } from '../../chain/step-options.ts';
import { DEFAULT_MESSAGE, Approvals, logDecision } from './approvals.ts';
import type { ApprovalsOptions, Remember } from './approvals.ts';
import { readRule } from './approval-rule.ts';
import type { ApprovalRule, ApproveWhen, Judge } from './approval-rule.ts';

export interface ApproveOptions {
  /** The tools: `destructive` (the default), `always`, globs, or a rule that combines them. */
  when?: ApproveWhen | ApprovalRule | undefined;
  /** The question; `{tool}`, `{server}` and `{arguments}` are placeholders. */
  message?: string | undefined;
  /** Lets a yes hold for a while. Default: for one call. */
  remember?: Remember | undefined;
  /** How long to wait for an answer; then the call is not approved. */
  timeoutMs?: number | undefined;
  clock?: Clock | undefined;
}

const DEFAULTS = {
  when: undefined,
  message: DEFAULT_MESSAGE,
  remember: undefined,
  timeoutMs: 600_000,
  clock: systemClock,
};

/**
 * Asks a person before tools are called.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { approve } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [approve({ when: ['send_*', 'pay'] })] });
 * ```
 */
export function approve(options: ApproveOptions = {}): Step {
  const { when = 'destructive', ...asking } = withDefaults('approve', options, DEFAULTS);
  return approveBy(readRule(when), asking);
}

export function approveBy(rule: Judge, asking: ApprovalsOptions = DEFAULTS): Step {
  const approvals = new Approvals(asking);
  const tools = new ToolAnnotations();
  return {
    name: 'approve',
    toolRules: rule.rules,
    methods: [LIST_TOOLS, ...Object.keys(RUN_METHODS)],
    onChange: (change) => tools.hear(change),
    handle: async function approve(exchange, next, lookUp, originOf) {
      if (exchange.method === LIST_TOOLS) {
        const outcome = await next();
        tools.learn(exchange, outcome.result);
        return outcome;
      }
      const isCall = exchange.method === CALL_TOOL;
      const tool = readString(exchange.params, isCall ? 'name' : 'toolName');
      if (exchange.ownTool?.name === tool) return next(); // the gateway's own tool only delivers an answer
      // Before tools are listed, a renamed tool would be taken for another one.
      await tools.checkListed(tool, exchange, { lookUp, originOf });
      const judged = { name: tool, origin: originOf?.('tools', tool) };
      const judgement = await rule.judge(judged, () => tools.annotations(tool, exchange, lookUp));
      if (judgement === 'allow') return next();
      // There is no session yet in which to ask, so the client has to make an ordinary call.
      if (!isCall) return respond(toPlayAsCall({ tool, wantedBy: 'step' }));
      const refusal = judgement === 'deny' ? forbidden(tool, exchange) : await approvals.ask(judged, exchange);
      return refusal === undefined ? next() : respond(notApproved(tool, refusal));
    },
  } satisfies Step;
}

function forbidden(tool: string, exchange: StepExchange): string {
  const refusal = 'a rule of the gateway forbids it';
  logDecision(tool, exchange, { way: 'rule', refusal });
  return refusal;
}

/** A no, as the model reads it. */
export function notApproved(tool: string, reason: string): JsonObject {
  const { message } = new GatewayError('NOT_APPROVED', { what: tool });
  const text = `${message}: ${reason.replace(/\.$/, '')}. It was not called. Do not try again unless the user asks for it.`;
  return { content: [{ type: 'text', text }], isError: true };
}
