// For tests of your own steps, servers, flows and gateways, all within one process.
export { testGateway } from '../testing/test-gateway.ts';
export type { TestedGateway } from '../testing/test-gateway.ts';
export { testFlow } from '../testing/test-flow.ts';
export type { FlowTest } from '../testing/test-flow.ts';
export { unanswered } from '../flow/testing/play-flow.ts';
export { manualClock } from '../flow/testing/manual-clock.ts';
export type { ManualClock } from '../flow/testing/manual-clock.ts';
export { testServer } from '../testing/test-server.ts';
export type { TestedServer } from '../testing/test-server.ts';
export { testStep } from '../testing/test-step.ts';
export type { TestedStep } from '../testing/test-step.ts';
export { memoryPair } from '../testing/memory-pair.ts';
