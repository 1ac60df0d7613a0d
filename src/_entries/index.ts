// The public API of mcp-parley.
export { createServer } from '../sdk/server/create-server.ts';
export type { ParleyServer } from '../sdk/server/create-server.ts';
export type {
  AnswerOf,
  Asker,
  Call,
  FormAnswer,
  PromptOptions,
  Registration,
  ResourceOptions,
  Schema,
  ServerOptions,
  TemplateOptions,
  ToolHandler,
  ToolOptions,
  TypedToolHandler,
} from '../sdk/server/types.ts';
export { createGateway } from '../gateway/gateway.ts';
export type { Gateway, GatewayOptions } from '../gateway/gateway.ts';
export type { ServerEntry, ServerSettings } from '../gateway/server-entry.ts';
export { createAuditLog } from '../gateway/features/audit/audit-log.ts';
export type { AuditEvent } from '../kernel/audit.ts';
export { ExternalMCPServer, FrontMCPServer, MiddlewareMCPServer } from '../gateway/mcp-chain.ts';
export type { HttpEndpoint } from '../mcp/listen/http/http-endpoint.ts';
export type { Identify } from '../mcp/listen/identify.ts';
export type { HttpListening } from '../mcp/listen/http/listen-http.ts';
export type { StdioListening } from '../mcp/listen/stdio.ts';
export type { Fetch } from '../mcp/listen/http/to-fetch.ts';
export { respond } from '../gateway/chain/outcome.ts';
export type { Step, StepFunction } from '../kernel/step.ts';
export { connect } from '../sdk/client/connect.ts';
export type { Client } from '../sdk/client/client.ts';
export type { ListenOptions } from '../mcp/listen/transport-listeners.ts';
export type { ConnectOptions, TypedResult } from '../sdk/client/types.ts';
export type { Address } from '../mcp/connect/address.ts';
export type { ServerView } from '../kernel/server-view.ts';
export type { ClientView, Exchange } from '../kernel/exchange.ts';
export type { Change, Target } from '../kernel/target.ts';
export type { EventStore } from '../mcp/eras/serve/serve-context.ts';
export type { JsonObject } from '../kernel/message.ts';
export { RawObject } from '../kernel/raw/raw-object.ts';
export type { ResultObject } from '../kernel/raw/raw-object.ts';
export { ERRORS } from '../kernel/base/error-table.ts';
export type { ErrorCode } from '../kernel/base/error-table.ts';
export { GatewayError, ProtocolError } from '../kernel/base/errors.ts';
export { DEFAULT_LIMITS } from '../kernel/base/limits.ts';
export type { Limits } from '../kernel/base/limits.ts';
export { openSharedState } from '../kernel/state/open-shared-state.ts';
export type { State } from '../kernel/state/state.ts';
export { createLog } from '../kernel/base/log.ts';
export type { Log } from '../kernel/base/log.ts';
