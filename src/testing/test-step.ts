// A step, or a few, between a client and a server that only a test would want. What passes the step is told.
import type { ConnectOptions } from '../client/types.ts';
import type { ServerEntry } from '../gateway/gateway.ts';
import type { JsonObject } from '../protocol/message.ts';
import type { Step, StepFunction } from '../protocol/step.ts';
import { sampleServer } from './sample-server.ts';
import { testGateway } from './test-gateway.ts';
import type { TestedGateway } from './test-gateway.ts';

export interface StepTest extends ConnectOptions {
  /** What is behind the step. Default: a server with the tools `echo`, `ask`, `count` and `fail`, a resource and a prompt. */
  server?: ServerEntry;
}

/** A request as it left the step. */
export interface PassedRequest {
  method: string;
  params: JsonObject;
}

export interface TestedStep extends TestedGateway {
  /** What came through to the server, in order; what the step asked for itself included. */
  readonly reached: readonly PassedRequest[];
}

type OneOrMore<T> = T | readonly T[];

/** The rest of `options` says who calls, as for `connect`. */
export async function testStep(
  steps: OneOrMore<Step | StepFunction>,
  { server = sampleServer(), ...client }: StepTest = {},
): Promise<TestedStep> {
  const reached: PassedRequest[] = [];
  const tell: Step = {
    name: 'testStep',
    handle({ method, params }, next) {
      reached.push({ method, params: structuredClone(params) }); // as it is now, whatever becomes of it
      return next();
    },
  };
  const given = Array.isArray(steps) ? (steps as readonly (Step | StepFunction)[]) : [steps as Step | StepFunction];
  const tested = await testGateway({ servers: { server }, steps: [...given, tell] }, client);
  return { ...tested, reached };
}
