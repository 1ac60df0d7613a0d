// For tests of your own steps, servers and gateways: everything within one process.
export { testGateway } from '../testing/test-gateway.ts';
export type { TestedGateway } from '../testing/test-gateway.ts';
export { testFlow } from '../testing/test-flow.ts';
export type { FlowClientTest, FlowTest, FlowTestOptions, Replayed } from '../testing/test-flow.ts';
export type { AsClientOptions, PlayedAsClient } from '../testing/as-client/as-client.ts';
export type { ClientKind } from '../testing/as-client/kinds.ts';
export type { Way } from '../testing/as-client/person.ts';
export { unanswered } from '../flow/testing/play.ts';
export type { Answers, Played, Unanswered } from '../flow/testing/play.ts';
export type { StepSeen } from '../flow/testing/observed.ts';
export { manualClock } from '../flow/testing/manual-clock.ts';
export type { ManualClock } from '../flow/testing/manual-clock.ts';
export { testServer } from '../testing/test-server.ts';
export type { Connectable, TestedServer } from '../testing/test-server.ts';
export { testStep } from '../testing/test-step.ts';
export type { Reached, StepTest, TestedStep } from '../testing/test-step.ts';
export { memoryPair } from '../testing/memory-pair.ts';
export type { LogLine } from '../testing/collect-log.ts';
