// The public API of mcp-parley, and nothing else.
export { createServer } from '../server/create-server.ts';
export type { ParleyServer } from '../server/create-server.ts';
export type * from '../server/types.ts';
export { createGateway } from '../gateway/gateway.ts';
export type { Gateway, GatewayOptions, ServerEntry, ServerSettings } from '../gateway/gateway.ts';
export type { GatewayCallOptions } from '../gateway/own-call.ts';
export type { RootOption } from '../gateway/ask/configured-roots.ts';
export type { AskOptions, Channel } from '../gateway/ask/means.ts';
export type { SamplerOptions } from '../gateway/ask/model/sample.ts';
export type { StandIn, StandInFor, StandIns } from '../gateway/ask/stand-in.ts';
export { ExternalMCPServer, FrontMCPServer, MiddlewareMCPServer } from '../gateway/mcp-chain.ts';
export type { Behind } from '../gateway/mcp-chain.ts';
export type { EndpointOptions, HttpEndpoint } from '../gateway/accept/http/http-endpoint.ts';
export type { Identify, IdentifyRequest, Identity } from '../gateway/accept/identify.ts';
export type { Fetch } from '../gateway/accept/web/to-fetch.ts';
export type { ObserveOptions } from '../gateway/observe/observer.ts';
export { respond } from '../gateway/middleware/chain/outcome.ts';
export type { Greeting, Hooks, Next, Outcome, Step, StepExchange, StepFunction } from '../protocol/step.ts';
export type { OutcomeOf, StepFunctionOf, StepMethod, StepMethods } from '../protocol/step-methods.ts';
export { connect } from '../client/connect.ts';
export type { Client } from '../client/client.ts';
export type { ListenOptions, ListeningWith } from '../gateway/accept/doors.ts';
export type { Approval, AskContext, CallToolOptions, ConnectOptions } from '../client/types.ts';
export type { ClientCallOptions } from '../client/call-options.ts';
export type { Address, CommandAddress, UrlAddress } from '../gateway/upstream/address.ts';
export type { ServerView } from '../protocol/server-view.ts';
export type {
  ClientConnection,
  ClientView,
  Exchange,
  Ask,
  Progress,
  LogEntry,
  TraceContext,
} from '../protocol/exchange.ts';
export type { Change, Target, TaskState } from '../protocol/target.ts';
export type { EventStore, StoredEvent } from '../protocol/event-store.ts';
export type { JsonObject, Message, RequestId } from '../protocol/message.ts';
export { RawObject } from '../protocol/raw/raw-object.ts';
export type { ResultObject } from '../protocol/raw/raw-object.ts';
export { ERRORS } from '../shared/error-table.ts';
export type { ErrorCode, ErrorRow, Fault } from '../shared/error-table.ts';
export { GatewayError, ProtocolError } from '../shared/errors.ts';
export { DEFAULT_LIMITS } from '../shared/limits.ts';
export type { Limits } from '../shared/limits.ts';
export { createLog } from '../shared/log.ts';
export type { Log } from '../shared/log.ts';
