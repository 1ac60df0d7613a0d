// Interactive tools: one async function that asks, for every client.
export { flow } from '../flow/define.ts';
export type { AnyFlow, Body, Flow, FlowOptions, InputOf, ResultOf } from '../flow/define.ts';
export { f } from '../flow/authoring/fields.ts';
export type { FieldBuilders, FieldsOf, FormField, FormFields } from '../flow/authoring/fields.ts';
export { msg } from '../flow/authoring/words.ts';
export type { Catalogue, Message, Words } from '../flow/authoring/words.ts';
export { AskError } from '../flow/authoring/ask-failure.ts';
export type { AskFailure } from '../flow/authoring/ask-failure.ts';
export type { Answered, Ask, Key, SchemaOutput, ValueOf } from '../flow/authoring/ask.ts';
export type * from '../flow/authoring/options.ts';
export type { Span } from '../flow/authoring/span.ts';
export type { Secret, StepContext, StepOptions } from '../flow/authoring/step.ts';
export type { FileAnswer, FileRef } from '../flow/question/check-file.ts';
export type {
  Choice,
  Complaint,
  Field,
  Kind,
  Prompt,
  PromptType,
  Question,
  Validation,
} from '../flow/question/question.ts';
export { FlowClient, connectFlows } from '../flow/client/flow-client.ts';
export type { FlowClientOptions, FlowOutcome } from '../flow/client/flow-client.ts';
export { CANCEL } from '../flow/client/play-options.ts';
export type { PlayOptions, PromptContext } from '../flow/client/play-options.ts';
export { serveFlows } from '../flow/wire/serve-flows.ts';
export type { ServeFlowsOptions } from '../flow/wire/serve-flows.ts';
export { Sessions } from '../flow/session/sessions.ts';
export type { SessionEvent } from '../flow/session/session-event.ts';
export type { SessionOptions } from '../flow/session/setup.ts';
export type * from '../flow/session/requests.ts';
export { settled } from '../flow/session/turn.ts';
export type { Failure, Turn, Verdict } from '../flow/session/turn.ts';
export type { PastTurn, StateView } from '../flow/session/view.ts';
export { DEFAULT_FLOW_LIMITS } from '../flow/session/flow-limits.ts';
export type { FlowLimits } from '../flow/session/flow-limits.ts';
export { explore } from '../flow/explore/explore.ts';
export type { Explored, FoundQuestion } from '../flow/explore/explore.ts';
export { toInputSchema } from '../flow/explore/to-input-schema.ts';
export { memoryStore } from '../flow/store/memory.ts';
export { createRedisStore } from '../flow/store/redis.ts';
export type { RedisStoreOptions } from '../flow/store/redis.ts';
export type { RedisPlace } from '../flow/store/redis-connection.ts';
export { createSqliteStore } from '../flow/store/sqlite.ts';
export type { SqliteOptions } from '../flow/store/sqlite.ts';
export type { SqliteFile } from '../flow/store/sqlite-file.ts';
export type * from '../flow/store/store.ts';
export type * from '../flow/journal.ts';
export type * from '../flow/interaction.ts';
export { createSignedTokens } from '../flow/token/signed-tokens.ts';
export { createTokens } from '../flow/token/tokens.ts';
export type { Opened, TokenOptions, Tokens } from '../flow/token/tokens.ts';
export type { Binding } from '../flow/token/binding.ts';
export { TravellingSessions } from '../flow/token/travelling.ts';
export type { Bearer, Travelled, TravellingOptions } from '../flow/token/travelling.ts';
