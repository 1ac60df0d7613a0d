// For tests of your own steps, servers, flows and gateways, all within one process.
export { testGateway, testServer, testStep } from '../testing/test-gateway.ts';
export type { TestedGateway, TestedServer, TestedStep } from '../testing/test-gateway.ts';
export { testFlow } from '../testing/test-flow.ts';
export type { FlowTest } from '../testing/test-flow.ts';
export { unanswered } from '../flow/testing/play-flow.ts';
export { manualClock } from '../flow/testing/manual-clock.ts';
export type { ManualClock } from '../flow/testing/manual-clock.ts';
export { memoryPair } from '../testing/memory-pair.ts';
