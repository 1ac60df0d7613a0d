// Tests steps between a client and a sample server, and records what passes them.
import type { ConnectOptions } from '../client/types.ts';
import type { ServerEntry } from '../gateway/server-entry.ts';
import type { JsonObject } from '../protocol/message.ts';
import type { Step, StepFunction } from '../protocol/step.ts';
import { sampleServer } from './sample-server.ts';
import { testGateway } from './test-gateway.ts';
import type { TestedGateway } from './test-gateway.ts';

interface StepTest extends ConnectOptions {
  /** The server behind the steps. Default: one with the tools `echo`, `ask`, `count` and `fail`, a resource and a prompt. */
  server?: ServerEntry;
}

/** A request as it left the steps. */
interface PassedRequest {
  method: string;
  params: JsonObject;
}

export interface TestedStep extends TestedGateway {
  /** Requests that reached the server, in order, including those of the steps themselves. */
  readonly reached: readonly PassedRequest[];
}

type OneOrMore<T> = T | readonly T[];

/** The other options say who calls, as for `connect`. */
export async function testStep(
  steps: OneOrMore<Step | StepFunction>,
  { server = sampleServer(), ...client }: StepTest = {},
): Promise<TestedStep> {
  const reached: PassedRequest[] = [];
  const tell: Step = {
    name: 'testStep',
    handle({ method, params }, next) {
      reached.push({ method, params: structuredClone(params) }); // a copy, as later changes must not show
      return next();
    },
  };
  const given = Array.isArray(steps) ? (steps as readonly (Step | StepFunction)[]) : [steps as Step | StepFunction];
  const tested = await testGateway({ servers: { server }, steps: [...given, tell] }, client);
  return { ...tested, reached };
}
