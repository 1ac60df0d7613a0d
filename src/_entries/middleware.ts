// The built-in steps of mcp-parley, and what is needed to write one.
export { approve } from '../gateway/middleware/approve.ts';
export type { ApproveOptions } from '../gateway/middleware/approve.ts';
export type { ApprovalRule, ApproveWhen } from '../gateway/middleware/approval-rule.ts';
export type { Remember } from '../gateway/middleware/approvals.ts';
export { cache } from '../gateway/middleware/cache.ts';
export type { CacheOptions } from '../gateway/middleware/cache.ts';
export { circuitBreaker } from '../gateway/middleware/circuit-breaker.ts';
export type { CircuitBreakerOptions } from '../gateway/middleware/circuit-breaker.ts';
export { defaults } from '../gateway/middleware/defaults.ts';
export { describe } from '../gateway/middleware/describe.ts';
export type { DescribeOptions } from '../gateway/middleware/describe.ts';
export { filter } from '../gateway/middleware/filter.ts';
export type { FilterOptions, Rule } from '../gateway/middleware/filter.ts';
export { fixed } from '../gateway/middleware/fixed.ts';
export type { ToolArguments } from '../gateway/middleware/tool-arguments.ts';
export { log } from '../gateway/middleware/log.ts';
export type { LogOptions } from '../gateway/middleware/log.ts';
export { prefix } from '../gateway/middleware/prefix.ts';
export type { PrefixOptions } from '../gateway/middleware/prefix.ts';
export { redact } from '../gateway/middleware/redact.ts';
export type { RedactOptions } from '../gateway/middleware/redact.ts';
export { rename } from '../gateway/middleware/rename.ts';
export type { RenameOptions } from '../gateway/middleware/rename.ts';
export { retry } from '../gateway/middleware/retry.ts';
export type { RetryOptions } from '../gateway/middleware/retry.ts';
export { sizeLimit } from '../gateway/middleware/size-limit.ts';
export type { SizeLimitOptions } from '../gateway/middleware/size-limit.ts';
export { timeout } from '../gateway/middleware/timeout.ts';
export type { TimeoutOptions } from '../gateway/middleware/timeout.ts';
export { ORDER, byName } from '../gateway/middleware/order.ts';
export type { BuiltIn, StepFactory } from '../gateway/middleware/order.ts';
export { perClient } from '../gateway/middleware/per-client.ts';
export { onCall, onCustomMethod, onList, onMethod } from '../gateway/middleware/on-method.ts';
export { mapNames, mapTools } from '../gateway/middleware/map-names.ts';
export type { Mapping } from '../gateway/middleware/map-names.ts';
export type { MapEntry } from '../gateway/middleware/name-table.ts';
export type { Listed } from '../gateway/middleware/list-all.ts';
export { createChain } from '../gateway/middleware/chain.ts';
export type { ChainOptions } from '../gateway/middleware/chain.ts';
export { respond } from '../gateway/middleware/outcome.ts';
export { loadStep } from '../gateway/middleware/load-step.ts';
export { watchStep } from '../gateway/middleware/watch-step.ts';
export type { WatchStepOptions, WatchedStep } from '../gateway/middleware/watch-step.ts';
export type {
  Hooks,
  LookUp,
  Next,
  Notification,
  OnAsk,
  Outcome,
  Step,
  StepExchange,
  StepFunction,
} from '../protocol/step.ts';
