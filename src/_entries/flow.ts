// Interactive tools: one async function that asks its user, for every client.
export { flow } from '../flow/define.ts';
export type { AnyFlow, Flow, FlowOptions, InputOf, ResultOf } from '../flow/define.ts';
export { f } from '../flow/authoring/fields.ts';
export type { FieldsOf, FormField } from '../flow/authoring/fields.ts';
export { msg } from '../flow/question/question.ts';
export { AskError, SessionEndedError } from '../flow/authoring/ask-failure.ts';
export type { Ask, PersonAsk } from '../flow/authoring/ask.ts';
export type { Span } from '../flow/authoring/span.ts';
export type { RetryPolicy, Secret, StepContext, StepOptions } from '../flow/authoring/step.ts';
export type { FileRef } from '../flow/question/check-answer.ts';
export { PromptType } from '../kernel/form/prompt.ts';
export type { Prompt } from '../kernel/form/prompt.ts';
export { InteractionState } from '../mcp/flow/flow-states.ts';
export { FlowClient, connectFlows } from '../flow/client/flow-client.ts';
export type { FlowClientOptions } from '../flow/client/flow-client.ts';
export type { PlayOptions } from '../flow/client/flow-client.ts';
export { CANCEL, DECLINE } from '../mcp/flow/flow-run.ts';
export type { FlowOutcome } from '../mcp/flow/flow-run.ts';
export { serveFlows } from '../flow/wire/serve-flows.ts';
export type { ServeFlowsOptions } from '../flow/wire/serve-flows.ts';
export { FlowSessions, TokenFlowSessions } from '../flow/flow-sessions.ts';
export type { SessionEvent } from '../flow/session/turn/session-event.ts';
export type { PersonNotice } from '../flow/session/context/session-context.ts';
export type { Turn } from '../flow/session/turn/turn.ts';
export { exploreFile } from '../flow/explore/explore-file.ts';
export type { ExploredFlows } from '../flow/explore/exploration.ts';
export { memoryStore } from '../flow/store/memory/memory.ts';
export { createPostgresStore } from '../flow/store/postgres/postgres.ts';
export { createRedisStore } from '../flow/store/redis/redis.ts';
export { createSqliteStore } from '../flow/store/sqlite/sqlite.ts';
export type {
  BlobStore,
  FlowStore,
  LeaseStore,
  SessionStore,
  SharedStore,
  SpentTokens,
  StoredSession,
} from '../flow/store/store.ts';
export type { JournalEntry, Header as SessionHeader } from '../flow/journal.ts';
export type {
  InteractionCancelRequest,
  InteractionCompleteRequest,
  InteractionContinueRequest,
  InteractionGetStateRequest,
  InteractionPromptRequest,
  InteractionRespondRequest,
  InteractionStartRequest,
  SessionId,
} from '../flow/flow-message-types.ts';
export { createSignedTokens } from '../flow/token/signed-tokens.ts';
export { createTokens } from '../flow/token/tokens.ts';
export type { Tokens } from '../flow/token/tokens.ts';
