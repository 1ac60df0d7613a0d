// Compiled by tests/integration/flow-types-v1.test.ts, never run: the messages of MCP Flow are requests of SDK v1, too.
import type { JSONRPCRequest, Request } from '@modelcontextprotocol/sdk/types.js';
import type {
  InteractionCancelRequest,
  InteractionCompleteRequest,
  InteractionContinueRequest,
  InteractionGetStateRequest,
  InteractionPromptRequest,
  InteractionRespondRequest,
  InteractionStartRequest,
} from '../../src/flow/flow-message-types.ts';

type Is<T extends true> = T;
type Fits<A, B> = A extends B ? true : false;

export type Requests = [
  Is<Fits<InteractionStartRequest, Request>>,
  Is<Fits<InteractionPromptRequest, Request>>,
  Is<Fits<InteractionRespondRequest, Request>>,
  Is<Fits<InteractionContinueRequest, Request>>,
  Is<Fits<InteractionCompleteRequest, Request>>,
  Is<Fits<InteractionCancelRequest, Request>>,
  Is<Fits<InteractionGetStateRequest, Request>>,
  Is<Fits<InteractionStartRequest & { jsonrpc: '2.0'; id: 1 }, JSONRPCRequest>>,
];

export const start: Request = {
  method: 'interaction.start',
  params: { toolName: 'x' },
} satisfies InteractionStartRequest;
