// The methods that steps see, with the types of their params and results. Custom methods can be added by declaration
// merging:
// declare module 'mcp-parley' { interface StepMethods { 'acme/run': { params: { job: string }; result: { id: string } }
// } }
import type {
  CallToolRequestParams,
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  GetPromptRequestParams,
  GetPromptResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  PaginatedRequestParams,
  ReadResourceRequestParams,
  ReadResourceResult,
} from '@modelcontextprotocol/client';
import type { JsonObject } from './message.ts';
import type { LookUp, OriginOf, Outcome, StepExchange } from './step.ts';

interface Untyped {
  params: JsonObject;
  result: JsonObject;
}

interface OfUri extends Untyped {
  params: { uri: string; _meta?: JsonObject };
}

interface OfTask extends Untyped {
  params: { taskId: string; _meta?: JsonObject };
}

interface StepMethods {
  'tools/list': { params: PaginatedRequestParams; result: ListToolsResult };
  'tools/call': { params: CallToolRequestParams; result: CallToolResult };
  'prompts/list': { params: PaginatedRequestParams; result: ListPromptsResult };
  'prompts/get': { params: GetPromptRequestParams; result: GetPromptResult };
  'resources/list': { params: PaginatedRequestParams; result: ListResourcesResult };
  'resources/templates/list': { params: PaginatedRequestParams; result: ListResourceTemplatesResult };
  'resources/read': { params: ReadResourceRequestParams; result: ReadResourceResult };
  'resources/subscribe': OfUri;
  'resources/unsubscribe': OfUri;
  'completion/complete': { params: CompleteRequestParams; result: CompleteResult };
  'tasks/get': OfTask;
  'tasks/result': OfTask;
  'tasks/cancel': OfTask;
  'tasks/update': OfTask;
  'tasks/list': Untyped;
  'notifications/roots/list_changed': Untyped;
}

export type StepMethod = keyof StepMethods;

/** The outcome of a method. */
type OutcomeOf<M extends StepMethod> = Omit<Outcome, 'result'> & { result: StepMethods[M]['result'] };

/** A step for one or several methods, with the protocol's types for params and results. */
export type StepFunctionOf<M extends StepMethod> = (
  exchange: Omit<StepExchange, 'method' | 'params'> & { readonly method: M; params: StepMethods[M]['params'] },
  next: () => Promise<OutcomeOf<M>>,
  lookUp: LookUp,
  originOf?: OriginOf,
) => Outcome | OutcomeOf<M> | Promise<Outcome | OutcomeOf<M>>;
