// The commands of features, in the order of the help. Only what can be typed is loaded with this list.
import { auditCommand, logsCommand } from './audit/command.ts';
import { openCommand } from './console/command.ts';
import { pinsCommand } from './pins/command.ts';
import { pairCommand } from './questions/command.ts';
import { policyCommand } from './rules/command.ts';

export const FEATURE_COMMANDS = [
  openCommand, // what happens, in a browser
  pinsCommand, // what servers have changed
  pairCommand, // where a person answers
  policyCommand, // what rules would decide
  logsCommand, // what was called
  auditCommand, // whether that is complete
] as const;
