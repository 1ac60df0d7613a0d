// The public API of mcp-parley.
export { createServer } from '../server/create-server.ts';
export type { ParleyServer } from '../server/create-server.ts';
export type {
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
} from '../server/types.ts';
export { createGateway } from '../gateway/gateway.ts';
export type { Gateway, GatewayOptions } from '../gateway/gateway.ts';
export type { ServerEntry, ServerSettings } from '../gateway/server-entry.ts';
export { createAuditLog } from '../gateway/audit/audit-log.ts';
export type { AuditEvent } from '../protocol/audit.ts';
export { ExternalMCPServer, FrontMCPServer, MiddlewareMCPServer } from '../gateway/mcp-chain.ts';
export type { HttpEndpoint } from '../gateway/accept/http/http-endpoint.ts';
export type { Identify } from '../gateway/accept/identify.ts';
export type { HttpListening } from '../gateway/accept/http/listen-http.ts';
export type { StdioListening } from '../gateway/accept/stdio.ts';
export type { Fetch } from '../gateway/accept/http/to-fetch.ts';
export { respond } from '../gateway/middleware/chain/outcome.ts';
export type { Step, StepFunction } from '../protocol/step.ts';
export { connect } from '../client/connect.ts';
export type { Client } from '../client/client.ts';
export type { ListenOptions } from '../gateway/accept/transport-listeners.ts';
export type { ConnectOptions } from '../client/types.ts';
export type { Address } from '../gateway/upstream/address.ts';
export type { ServerView } from '../protocol/server-view.ts';
export type { ClientView, Exchange } from '../protocol/exchange.ts';
export type { Change, Target } from '../protocol/target.ts';
export type { EventStore } from '../gateway/dialect/serve/serve-context.ts';
export type { JsonObject } from '../protocol/message.ts';
export { RawObject } from '../protocol/raw/raw-object.ts';
export type { ResultObject } from '../protocol/raw/raw-object.ts';
export { ERRORS } from '../shared/error-table.ts';
export type { ErrorCode } from '../shared/error-table.ts';
export { GatewayError, ProtocolError } from '../shared/errors.ts';
export { DEFAULT_LIMITS } from '../shared/limits.ts';
export type { Limits } from '../shared/limits.ts';
export { createLog } from '../shared/log.ts';
export type { Log } from '../shared/log.ts';
