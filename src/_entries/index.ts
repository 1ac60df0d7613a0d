// The public API of mcp-parley, and nothing else.
export { createServer } from '../server/create-server.ts';
export type { ParleyServer } from '../server/create-server.ts';
export type * from '../server/types.ts';
export { connect } from '../client/connect.ts';
export type { Client } from '../client/client.ts';
export type { Approval, AskContext, CallToolOptions, ConnectOptions } from '../client/types.ts';
export type { ClientCallOptions } from '../client/call-options.ts';
export type { Address, CommandAddress, UrlAddress } from '../gateway/upstream/address.ts';
export type { ServerView } from '../protocol/server-view.ts';
export type { ClientView, Exchange, Ask, Progress, LogEntry, TraceContext } from '../protocol/exchange.ts';
export type { Change, Target, TaskState } from '../protocol/target.ts';
export type { JsonObject, Message, RequestId } from '../protocol/message.ts';
export { ERRORS, GatewayError, ProtocolError } from '../shared/errors.ts';
export type { ErrorCode } from '../shared/errors.ts';
export { DEFAULT_LIMITS } from '../shared/limits.ts';
export type { Limits } from '../shared/limits.ts';
export { createLog } from '../shared/log.ts';
export type { Log } from '../shared/log.ts';
