// All commands in the order of the help, and what was typed as one of them.
import { FEATURE_COMMANDS } from '../../gateway/features/commands.ts';
import { KEY, TRUST } from './access-commands.ts';
import type { CommandSpec, FeatureCommand, ParsedCommand } from '../../kernel/command/command-spec.ts';
import { BUNDLE, CONNECT, DOCTOR, INIT } from './connect-commands.ts';
import { EXPLORE, FLOWS, RUN } from './flow-commands.ts';
import { LOGIN, LOGINS, LOGOUT } from './login-commands.ts';
import { CHECK, COMPLETION, DEMO, SERVE, WRAP } from './serving-commands.ts';
import { CALL, LS, PROMPT, READ, STATUS, TOOLS } from './target-commands.ts';

/** Those that belong to no feature of the gateway, before and after the others. */
const [FIRST, LAST] = [
  [
    WRAP,
    SERVE,
    INIT,
    CONNECT,
    BUNDLE,
    DOCTOR,
    CHECK,
    TRUST,
    LS,
    TOOLS,
    CALL,
    READ,
    PROMPT,
    RUN,
    EXPLORE,
    FLOWS,
    KEY,
    STATUS,
  ],
  [LOGIN, LOGOUT, LOGINS, DEMO, COMPLETION],
];

export type OwnCommand = ParsedCommand<(typeof FIRST | typeof LAST)[number]>;
export type RunnableCommand = OwnCommand | ParsedCommand<(typeof FEATURE_COMMANDS)[number]>;

/** `isBrief`: what is wrong is one word, so the list of all commands would hide the answer. */
export interface Mistake {
  name: 'mistake';
  reason: string;
  of: string | undefined;
  isBrief?: boolean;
}

export type Command =
  | RunnableCommand
  | { name: 'version' }
  /** `of`: the command to show help for. */
  | { name: 'help'; of: string | undefined }
  | Mistake;

export const COMMANDS: readonly CommandSpec<RunnableCommand['name']>[] = [...FIRST, ...FEATURE_COMMANDS, ...LAST];

export function findCommand(name: string): (typeof COMMANDS)[number] | undefined {
  return COMMANDS.find((spec) => spec.name === name);
}

/** Undefined for a command that belongs to no feature. */
export function findFeatureCommand(name: string): FeatureCommand | undefined {
  return FEATURE_COMMANDS.find((spec) => spec.name === name);
}
