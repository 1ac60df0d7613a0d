// Texts of `parley --help`, of the help of each command, and of usage errors.
import { programName } from '../program.ts';
import type { CommandSpec } from '../../kernel/command/command-spec.ts';
import { COMMANDS, findCommand } from './commands.ts';
import type { Mistake } from './commands.ts';
import type { Option } from '../../kernel/command/option.ts';

const FOOT = `Exit status: 0 done, 1 something failed, 2 the command line was not understood.
Results go to stdout, everything else to stderr. NO_COLOR=1 turns colours off.`;

export function toHelp(of: string | undefined): string {
  const spec = of === undefined ? undefined : findCommand(of);
  return spec ? commandHelp(spec) : programHelp();
}

export function usageHelp({ of, isBrief = false }: Mistake): string {
  if (isBrief) return `Run "${programName()} --help" for all commands.`;
  if (of !== undefined) return `Run "${programName()} ${of} --help" for its options and examples.`;
  return `${commands()}\n\nRun "${programName()} --help" for more.`;
}

function programHelp(): string {
  return `parley: connects any MCP client to any MCP server, whatever revision or transport each side speaks.

${commands()}

Examples
${aligned(
  [
    ['wrap -- npx -y some-server', 'in place of the command that a client runs'],
    ['serve', 'all your servers behind one URL'],
    ['demo', 'something to try a client with'],
    ['call weather --arg city=Oslo', 'one call, from the shell'],
  ].map(([line, does]) => [`${programName()} ${line}`, does!]),
)}

"${programName()} COMMAND --help" shows options and examples; "${programName()} --version" the version.
${FOOT}`;
}

function commands(): string {
  return `Commands\n${aligned(COMMANDS.map(({ name, summary }) => [`${programName()} ${name}`, summary]))}`;
}

function commandHelp({ name, summary, usage, about = [], options, examples }: CommandSpec): string {
  const blocks = [
    `parley ${name}: ${summary}.`,
    ['Usage', ...usage.map((form) => `  ${programName()} ${name} ${form}`)].join('\n'),
    about.join('\n'),
    `Options\n${aligned(Object.entries(options).map(([option, spec]) => [flag(option, spec), spec.text]))}`,
    ['Examples', ...Object.entries(examples).flatMap(([line, does]) => [`  ${asStarted(line)}`, `      ${does}`])].join(
      '\n',
    ),
    FOOT,
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

/** Examples are written with `parley`; shows the name that the user typed. */
function asStarted(line: string): string {
  return line.replace(/(^|\()parley /, (_, before: string) => `${before}${programName()} `);
}

function flag(option: string, { short, value }: Option): string {
  return `${short === undefined ? '' : `-${short}, `}--${option}${value === undefined ? '' : ` ${value}`}`;
}

function aligned(rows: [string, string][]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}
