// What follows from the handshake era (kernel/era/era.ts). Its revisions differ in what they can encode (features.ts), and in whether they have tasks.
import type { EraFacts } from '../../../kernel/era/era.ts';

export const HANDSHAKE_FACTS: EraFacts = {
  spokenAs: 'handshake',
  hasSession: true,
  declaresPerRequest: false,
  introducesClient: true,
  servesAllByOne: false,
  declaresExtensions: false,
  asksInAnswers: false,
  asksByRequest: true,
  reportsVisits: true,
  reportsRoots: true,
  tellsLevelPerCall: false,
  tellsLevelPerSession: true,
  logsUnasked: true,
  updatesSubscribers: true,
  tasksByExtension: false,
  tasksByCapability: true,
  requestsTasks: false,
  reportsTasks: true,
  namesRefusals: false,
};

export const HANDSHAKE_FACTS_WITH_TASKS: EraFacts = { ...HANDSHAKE_FACTS, requestsTasks: true };
