// `parley completion`: prints a completion script for a shell. The script calls `completion names` for the tools of the running gateway,
// which starts nothing.
import { findConfig } from '../../config/read/find-config.ts';
import { stateFolder } from '../../kernel/secrets/own-folders.ts';
import type { CommandSpec } from '../../kernel/command/command-spec.ts';
import { COMMANDS } from '../args/commands.ts';
import type { Option } from '../../kernel/command/option.ts';
import type { Shell } from '../args/serving-commands.ts';
import { readEnvironment } from '../environment.ts';
import { sortByPreference } from '../running/find-gateway.ts';
import { listRunningGateways } from '../running/state-file.ts';
import type { Printer } from '../../kernel/command/printer.ts';

const SCRIPTS: Record<Shell, () => string> = { bash: toBash, zsh: toZsh, fish: toFish, powershell: toPowerShell };
/** Somebody has pressed Tab and waits. */
const NAMES_MS = 2000;

export async function runCompletion({ shell }: { shell: Shell | 'names' }, print: Printer): Promise<number> {
  if (shell !== 'names') print.line(SCRIPTS[shell]());
  else for (const name of await toolNames().catch(() => [])) print.line(name);
  return 0;
}

async function toolNames(): Promise<string[]> {
  const environment = readEnvironment();
  const [first] = sortByPreference(
    listRunningGateways(stateFolder(environment)),
    findConfig(undefined, environment).path,
  );
  if (!first) return [];
  const { connect } = await import('../../sdk/client/connect.ts');
  const { ControlTransport } = await import('../running/control-socket.ts');
  const { createLog } = await import('../../kernel/base/log.ts');
  const options = { name: 'parley', timeoutMs: NAMES_MS, probeMs: NAMES_MS, log: createLog({ level: 'silent' }) };
  const client = await connect(new ControlTransport(first.socket), options);
  try {
    return (await client.listTools()).map(({ name }) => name);
  } finally {
    await client.close();
  }
}

function toBash(): string {
  const cases = COMMANDS.map((spec) => {
    const values = choosing(spec).map(([name, { choices = [] }]) => `--${name}) words='${choices.join(' ')}' ;;`);
    const free = taking(spec).map(([name]) => `--${name}`);
    const plain = free.length > 0 ? [`${free.join('|')}) COMPREPLY=($(compgen -f -- "$cur")); return ;;`] : [];
    const named = spec.words?.names ? '$(parley completion names 2>/dev/null)' : '';
    const other = `*) words="${[...flags(spec), ...(spec.words?.choices ?? []), ...(named === '' ? [] : [named])].join(' ')}" ;;`;
    return `    ${spec.name}) case "$prev" in ${[...values, ...plain, other].join(' ')} esac ;;`;
  });
  const files = COMMANDS.filter(({ words }) => words?.file).map(({ name }) => name);
  return `# bash completion of parley: source <(parley completion bash)
_parley() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in ${names().join('|')}) command="$word"; break ;; esac
  done
  case "$command" in
    '') words='${[...names(), '--help', '--version'].join(' ')}' ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  case "$command" in ${files.join('|')}) COMPREPLY+=($(compgen -f -- "$cur")) ;; esac
}
complete -o filenames -F _parley parley mcp-parley`;
}

function toZsh(): string {
  const commands = COMMANDS.map(({ name, summary }) => `    '${name}:${zshText(summary)}'`);
  const cases = COMMANDS.map(
    (spec) =>
      `    ${spec.name}) _arguments -s ${[...Object.entries(spec.options).map(zshOption), ...zshWords(spec)].join(' ')} ;;`,
  );
  return `#compdef parley mcp-parley
# zsh completion of parley: parley completion zsh > "\${fpath[1]}/_parley"
_parley() {
  local -a commands=(
${commands.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe 'command' commands; return; fi
  local command="\${words[2]}"
  shift words; (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
if [ "\${funcstack[1]}" = _parley ]; then _parley "$@"; else compdef _parley parley mcp-parley; fi`;
}

function toFish(): string {
  const seen = `__fish_seen_subcommand_from ${names().join(' ')}`;
  const lines = COMMANDS.flatMap((spec) => [
    `complete -c parley -f -n 'not ${seen}' -a ${spec.name} -d '${fishText(spec.summary)}'`,
    ...Object.entries(spec.options).map(([name, option]) => fishOption(spec.name, name, option)),
    ...fishWords(spec),
  ]);
  return ['# fish completion of parley', ...lines].join('\n');
}

function toPowerShell(): string {
  const cases = COMMANDS.map((spec) => {
    const words = [...flags(spec), ...(spec.words?.choices ?? [])].map((word) => `'${word}'`).join(', ');
    const named = spec.words?.names ? ' + @(parley completion names 2>$null)' : '';
    return `    '${spec.name}' { @(${words})${named} }`;
  });
  return `# PowerShell completion of parley: parley completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName parley, mcp-parley -ScriptBlock {
  param($word, $line, $position)
  $typed = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  $commands = @(${names()
    .map((name) => `'${name}'`)
    .join(', ')})
  $command = $typed | Where-Object { $commands -contains $_ -and $_ -ne $word } | Select-Object -First 1
  $words = switch ($command) {
${cases.join('\n')}
    default { $commands + @('--help', '--version') }
  }
  $words | Where-Object { $_ -like "$word*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}`;
}

function names(): string[] {
  return COMMANDS.map(({ name }) => name);
}

function flags({ options }: CommandSpec): string[] {
  return Object.keys(options).map((name) => `--${name}`);
}

/** Options with a fixed set of values, and options that take any value. */
function choosing({ options }: CommandSpec): [string, Option][] {
  return Object.entries(options).filter(([, { choices }]) => choices);
}

function taking({ options }: CommandSpec): [string, Option][] {
  return Object.entries(options).filter(([, { type, choices }]) => type === 'string' && !choices);
}

function zshOption([name, { type, text, choices, multiple }]: [string, Option]): string {
  const value = type === 'boolean' ? '' : `:${name}:${choices ? `(${choices.join(' ')})` : '_files'}`;
  return `'${multiple ? '*' : ''}--${name}[${zshText(text)}]${value}'`;
}

function zshWords({ words, name }: CommandSpec): string[] {
  if (name === 'wrap') return [`'*::command:_normal'`];
  if (words?.names) return [`'1:tool:($(parley completion names 2>/dev/null))'`];
  if (words?.choices) return [`'*:word:(${words.choices.join(' ')})'`];
  return words?.file ? [`'*:file:_files'`] : [];
}

/** A quote ends the word, a bracket the text of an option, a colon the name of a command. */
function zshText(text: string): string {
  return text.replaceAll("'", '’').replaceAll(/[[\]:]/g, (sign) => `\\${sign}`);
}

function fishOption(command: string, name: string, { type, text, choices, short }: Option): string {
  const value = type === 'boolean' ? '' : choices ? ` -x -a '${choices.join(' ')}'` : ' -r';
  const letter = short === undefined ? '' : ` -s ${short}`;
  return `complete -c parley -n '__fish_seen_subcommand_from ${command}' -l ${name}${letter}${value} -d '${fishText(text)}'`;
}

function fishWords({ words, name }: CommandSpec): string[] {
  const seen = `complete -c parley -n '__fish_seen_subcommand_from ${name}'`;
  if (words?.names) return [`${seen} -f -a '(parley completion names 2>/dev/null)'`];
  if (words?.choices) return [`${seen}${words.file ? '' : ' -f'} -a '${words.choices.join(' ')}'`];
  return [];
}

function fishText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
}
