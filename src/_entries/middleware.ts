// The built-in steps of mcp-parley, and what is needed to write one.
export { approve } from '../gateway/middleware/steps/approve/approve.ts';
export type { ApproveOptions } from '../gateway/middleware/steps/approve/approve.ts';
export type { ApprovalRule, ApproveWhen } from '../gateway/middleware/steps/approve/approval-rule.ts';
export type { Remember } from '../gateway/middleware/steps/approve/approvals.ts';
export { cache } from '../gateway/middleware/steps/results/cache.ts';
export type { CacheOptions } from '../gateway/middleware/steps/results/cache.ts';
export { circuitBreaker } from '../gateway/middleware/steps/failures/circuit-breaker.ts';
export type { CircuitBreakerOptions } from '../gateway/middleware/steps/failures/circuit-breaker.ts';
export { defaults } from '../gateway/middleware/steps/arguments/defaults.ts';
export { describe } from '../gateway/middleware/steps/names/describe.ts';
export type { DescribeOptions } from '../gateway/middleware/steps/names/describe.ts';
export { filter } from '../gateway/middleware/steps/filter/filter.ts';
export type { FilterOptions, Rule } from '../gateway/middleware/steps/filter/filter.ts';
export { fixed } from '../gateway/middleware/steps/arguments/fixed.ts';
export type { ToolArguments } from '../gateway/middleware/steps/arguments/tool-arguments.ts';
export { log } from '../gateway/middleware/steps/log/log.ts';
export type { LogOptions } from '../gateway/middleware/steps/log/log.ts';
export { prefix } from '../gateway/middleware/steps/names/prefix.ts';
export type { PrefixOptions } from '../gateway/middleware/steps/names/prefix.ts';
export { redact } from '../gateway/middleware/steps/redact/redact.ts';
export type { RedactOptions } from '../gateway/middleware/steps/redact/redact.ts';
export { rename } from '../gateway/middleware/steps/names/rename.ts';
export type { RenameOptions } from '../gateway/middleware/steps/names/rename.ts';
export { retry } from '../gateway/middleware/steps/failures/retry.ts';
export type { RetryOptions } from '../gateway/middleware/steps/failures/retry.ts';
export { sizeLimit } from '../gateway/middleware/steps/results/size-limit.ts';
export type { SizeLimitOptions } from '../gateway/middleware/steps/results/size-limit.ts';
export { timeout } from '../gateway/middleware/steps/failures/timeout.ts';
export type { TimeoutOptions } from '../gateway/middleware/steps/failures/timeout.ts';
export { ORDER, byName } from '../gateway/middleware/chain/order.ts';
export type { BuiltIn, StepFactory } from '../gateway/middleware/chain/order.ts';
export { perClient } from '../gateway/middleware/chain/per-client.ts';
export { onCall, onCustomMethod, onList, onMethod } from '../gateway/middleware/chain/on-method.ts';
export { mapNames, mapTools } from '../gateway/middleware/steps/names/map-names.ts';
export type { Mapping } from '../gateway/middleware/steps/names/map-names.ts';
export type { MapEntry } from '../gateway/middleware/steps/names/name-table.ts';
export type { Listed } from '../gateway/middleware/chain/list-all.ts';
export { createChain } from '../gateway/middleware/chain/chain.ts';
export type { ChainOptions } from '../gateway/middleware/chain/chain.ts';
export { respond } from '../gateway/middleware/chain/outcome.ts';
export { loadStep } from '../gateway/middleware/load/load-step.ts';
export { watchStep } from '../gateway/middleware/load/watch-step.ts';
export type { WatchStepOptions, WatchedStep } from '../gateway/middleware/load/watch-step.ts';
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
