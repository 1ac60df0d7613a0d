// All commands in the order of the help, and what was typed as one of them.
import { KEY, PAIR, PINS, POLICY, TRUST } from './access-commands.ts';
import { AUDIT, LOGS } from './audit-commands.ts';
import type { CommandSpec, ParsedCommand } from './command-spec.ts';
import { EXPLORE, FLOWS, RUN } from './flow-commands.ts';
import { LOGIN, LOGINS, LOGOUT } from './login-commands.ts';
import { CHECK, COMPLETION, DEMO, SERVE, WRAP } from './serving-commands.ts';
import { CALL, LS, PROMPT, READ, STATUS } from './target-commands.ts';

const ALL = [
  WRAP,
  SERVE,
  CHECK,
  TRUST,
  LS,
  CALL,
  READ,
  PROMPT,
  RUN,
  EXPLORE,
  FLOWS,
  KEY,
  STATUS,
  PINS,
  PAIR,
  POLICY,
  LOGS,
  AUDIT,
  LOGIN,
  LOGOUT,
  LOGINS,
  DEMO,
  COMPLETION,
];

export type RunnableCommand = ParsedCommand<(typeof ALL)[number]>;

export type Command =
  | RunnableCommand
  | { name: 'version' }
  /** `of`: the command to show help for. */
  | { name: 'help'; of: string | undefined }
  | { name: 'mistake'; reason: string; of: string | undefined };

export const COMMANDS: readonly CommandSpec<RunnableCommand['name']>[] = ALL;

export function findCommand(name: string): (typeof COMMANDS)[number] | undefined {
  return COMMANDS.find((spec) => spec.name === name);
}
