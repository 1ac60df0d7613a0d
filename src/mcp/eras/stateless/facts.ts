// What follows from the stateless era (kernel/era/era.ts).
import type { EraFacts } from '../../../kernel/era/era.ts';

export const STATELESS_FACTS: EraFacts = {
  spokenAs: 'stateless',
  hasSession: false,
  declaresPerRequest: true,
  introducesClient: false,
  servesAllByOne: true,
  declaresExtensions: true,
  asksInAnswers: true,
  asksByRequest: false,
  reportsVisits: false,
  reportsRoots: false,
  tellsLevelPerCall: true,
  tellsLevelPerSession: false,
  logsUnasked: false,
  updatesSubscribers: false,
  tasksByExtension: true,
  tasksByCapability: false,
  requestsTasks: false,
  reportsTasks: false,
  namesRefusals: true,
};
