// What follows from the `draft` dialect (kernel/era/era.ts): it opens a session, and has hardly anything else.
import type { EraFacts } from '../../../kernel/era/era.ts';

export const DRAFT_FACTS: EraFacts = {
  spokenAs: 'handshake',
  hasSession: true,
  declaresPerRequest: false,
  introducesClient: false,
  servesAllByOne: true,
  declaresExtensions: false,
  asksInAnswers: false,
  asksByRequest: false,
  reportsVisits: false,
  reportsRoots: false,
  tellsLevelPerCall: false,
  tellsLevelPerSession: false,
  logsUnasked: false,
  updatesSubscribers: false,
  tasksByExtension: false,
  tasksByCapability: false,
  requestsTasks: false,
  reportsTasks: true,
  namesRefusals: false,
};
