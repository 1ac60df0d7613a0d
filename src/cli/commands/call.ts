// `parley call`: calls one tool. Asks on the terminal what the tool asks, and reports progress on stderr.
import type { Tool } from '@modelcontextprotocol/client';
import { suggest } from '../../kernel/text/suggest.ts';
import type { Progress } from '../../kernel/exchange.ts';
import type { CallCommand } from '../args/target-commands.ts';
import { connectForCommand, stillStarting } from '../running/connect-for-command.ts';
import type { CommandConnection } from '../running/connect-for-command.ts';
import { untilSignal } from '../signals.ts';
import { formatError, isGatewayError } from '../terminal/format-error.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import { createTerminalForm } from '../terminal/terminal-form.ts';
import { createTerminal } from '../terminal/terminal.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { meantArguments, toToolHelp } from '../terminal/tool-help.ts';
import { toProgressLine, toResultLines, toArguments } from '../terminal/tool-text.ts';

export async function runCall(command: CallCommand, print: Printer): Promise<number> {
  const terminal = createTerminal();
  const interrupt = new AbortController();
  void untilSignal().then(() => interrupt.abort());
  let connection: CommandConnection | undefined;
  try {
    let refused: Error | undefined;
    const onRefused = (error: Error): void => void (refused ??= error);
    const onElicit = createTerminalForm(terminal, { ...command, onRefused });
    connection = await connectForCommand(command, { onElicit, elicitUrls: true }, print);
    const context = { print, terminal, signal: interrupt.signal, refused: () => refused };
    return connection ? await callTool(connection, command, context) : 1;
  } catch (thrown) {
    print.problem(formatError(thrown));
    return 1;
  } finally {
    terminal.close();
    await connection?.close();
  }
}

interface CallContext {
  print: Printer;
  terminal: Terminal;
  signal: AbortSignal;
  /** Why a question was cancelled that nobody here may answer. */
  refused: () => Error | undefined;
}

async function callTool(
  connection: CommandConnection,
  command: CallCommand,
  { print, terminal, signal, refused }: CallContext,
): Promise<number> {
  const { client } = connection;
  const tools = await client.listTools({ signal });
  const tool = tools.find(({ name }) => name === command.tool);
  // Servers of a file run for this call only, and it has already waited for them as long as it may.
  const late = tool || command.config === undefined ? undefined : await startingOwner(connection, command.tool);
  if (late !== undefined) {
    print.problem(stillStarting(late));
    return 1;
  }
  if (command.asksHelp) return help(tool, { command, tools }, print);
  const args = toArguments(command.args, command.body, tool?.inputSchema);
  const onProgress = (progress: Progress): void => {
    if (!terminal.isAsking) print.note(toProgressLine(progress)); // do not write over a question
  };
  try {
    const result = await client.callTool(command.tool, args, { signal, onProgress });
    if (refused()) throw refused();
    if (command.json) print.line(JSON.stringify(result, undefined, 2));
    else if (result.isError) {
      print.problem(`${command.tool} failed: ${toResultLines(result).join('\n')}`);
      for (const hint of meantArguments(args, tool?.inputSchema)) print.note(hint);
    } else for (const line of toResultLines(result)) print.line(line);
    return result.isError ? 1 : 0;
  } catch (thrown) {
    // Servers may answer calls of tools they do not list, so the hint comes only after the call has failed.
    if (signal.aborted) return cancelled(command, print);
    const reason = refused() ?? thrown;
    const known = tool || isGatewayError(reason) ? '' : ` ${namesOf(tools, command.tool)}`;
    print.problem(`${formatError(reason)}${known}`);
    for (const hint of meantArguments(args, tool?.inputSchema)) print.note(hint);
    return 1;
  }
}

/** What the tool does, and what it takes. */
function help(
  tool: Tool | undefined,
  { command, tools }: { command: CallCommand; tools: Tool[] },
  print: Printer,
): number {
  if (!tool) {
    print.problem(`there is no tool called ${command.tool}. ${namesOf(tools, command.tool)}`);
    return 1;
  }
  if (command.json) print.line(JSON.stringify(tool, undefined, 2));
  else for (const line of toToolHelp(tool)) print.line(line);
  return 0;
}

/** The server named by the prefix of the tool, if it is still starting. */
async function startingOwner(connection: CommandConnection, tool: string): Promise<string | undefined> {
  const servers = (await connection.servers()) ?? [];
  return servers.find(({ name, state }) => state === 'starting' && tool.startsWith(`${name}__`))?.name;
}

/** The user pressed Ctrl-C, so no explanation is needed. */
function cancelled({ tool }: CallCommand, print: Printer): number {
  print.problem(`${tool} was cancelled.`);
  return 1;
}

function namesOf(tools: Tool[], wanted: string): string {
  if (tools.length === 0) return 'There are no tools here.';
  const meant = suggest(
    wanted,
    tools.map(({ name }) => name),
  );
  const hint = meant === undefined ? '' : `Did you mean "${meant}"? `;
  const names = tools.slice(0, 20).map(({ name }) => name);
  const more = tools.length > names.length ? `, and ${tools.length - names.length} more` : '';
  return `${hint}There are: ${names.join(', ')}${more}.`;
}
