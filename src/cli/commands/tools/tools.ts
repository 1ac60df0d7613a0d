// `parley tools`: what listed tools cost the context of a model, how often they are called, and what would cost less.
import { findConfig } from '../../../config/read/find-config.ts';
import { countCalls } from '../../../gateway/features/audit/count-calls.ts';
import type { CountedCalls } from '../../../gateway/features/audit/count-calls.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { firstSentence, toTable } from '../../../kernel/command/table.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { suggest } from '../../../kernel/text/suggest.ts';
import type { ToolsCommand } from '../../args/target-commands.ts';
import { displayPath, readEnvironment } from '../../environment.ts';
import { programName } from '../../program.ts';
import { withConnection } from '../../running/connect-for-command.ts';
import { isConfirmed } from '../../terminal/terminal.ts';
import { applyProposal, readWritten } from './apply-proposal.ts';
import type { WrittenConfig } from './apply-proposal.ts';
import { toListedTools, toServerCosts } from './listed-tool.ts';
import type { ListedTool } from './listed-tool.ts';
import { toProposals } from './proposals.ts';
import type { Proposal } from './proposals.ts';

const DAY_MS = 24 * 3_600_000;
const SHOWN_DAYS = 30;

interface ToolReport {
  tools: ListedTool[];
  /** By public name. */
  descriptions: ReadonlyMap<string, string>;
  proposals: Proposal[];
  calls: CountedCalls;
}

export function runTools(command: ToolsCommand, print: Printer): Promise<number> {
  const calls = countCalls(new Date(Date.now() - SHOWN_DAYS * DAY_MS));
  const config = readWritten(command.config ?? findConfig(undefined, readEnvironment()).path);
  return withConnection(command, print, async (connection) => {
    const { client } = connection;
    const listed = (await client.listTools()) as object[] as JsonObject[];
    const tools = toListedTools(listed, { servers: await connection.servers(), calls });
    const days = calls.from === undefined ? 0 : (Date.now() - calls.from.getTime()) / DAY_MS;
    const proposals = config && command.url === undefined ? toProposals({ tools, written: config.value, days }) : [];
    const descriptions = new Map(listed.map(({ name, description }) => [String(name), String(description ?? '')]));
    const report = { tools, descriptions, proposals, calls };
    if (command.apply !== undefined) return apply(command, { config, proposals }, print);
    return command.json ? showJson(command, report, print) : show(command, report, print);
  });
}

function showJson({ of }: ToolsCommand, { tools, proposals, calls }: ToolReport, print: Printer): number {
  const shown = of === undefined ? tools : tools.filter(({ server }) => server === of);
  const from = calls.from?.toISOString() ?? null;
  const servers = toServerCosts(shown);
  print.line(JSON.stringify({ servers, tools: shown, callsSince: from, proposals }, undefined, 2));
  return 0;
}

function show({ of }: ToolsCommand, report: ToolReport, print: Printer): number {
  const servers = toServerCosts(report.tools);
  if (of === undefined) showServers(report, print);
  else if (servers.some(({ server }) => server === of)) showTools(of, report, print);
  else {
    const names = servers.map(({ server }) => server);
    const meant = suggest(of, names);
    print.problem(
      `there is no server "${of}".${meant === undefined ? '' : ` Did you mean "${meant}"?`} There are ${names.join(', ')}.`,
    );
    return 1;
  }
  showProposals(report, print);
  return 0;
}

function showServers({ tools, calls }: ToolReport, print: Printer): void {
  const servers = toServerCosts(tools);
  const rows = servers.map(({ server, tools: count, tokens, calls: made }) => [
    server,
    `${count}`,
    toNumber(tokens),
    `${made}`,
  ]);
  const sum = servers.reduce((all, { tokens }) => all + tokens, 0);
  const sums = servers.length > 1 ? [['in all', `${tools.length}`, toNumber(sum), `${callsOf(tools)}`]] : [];
  printTable([['SERVER', 'TOOLS', 'TOKENS', 'CALLS'], ...rows, ...sums], print);
  print.note(`\nTokens are estimated; ${toPeriod(calls)} For each tool: ${programName()} tools SERVER`);
}

function showTools(of: string, { tools, descriptions, calls }: ToolReport, print: Printer): void {
  const rows = tools
    .filter(({ server }) => server === of)
    .map(({ name, tokens, calls: made }) => [
      name,
      toNumber(tokens),
      `${made}`,
      firstSentence(descriptions.get(name)!),
    ]);
  printTable([['TOOL', 'TOKENS', 'CALLS', 'DESCRIPTION'], ...rows], print);
  print.note(`\nTokens are estimated; ${toPeriod(calls)}`);
}

function showProposals({ proposals }: ToolReport, print: Printer): void {
  if (proposals.length === 0) return;
  print.note('\nThis would cost less:');
  const rows = proposals.map(({ text, saves }, index) => [`${index + 1}`, text, `${toNumber(saves)} tokens less`]);
  for (const line of toTable(rows, { indent: '  ' })) print.note(line);
  print.note(`To write one into the configuration: ${programName()} tools --apply 1`);
}

interface Applicable {
  config: WrittenConfig | undefined;
  proposals: readonly Proposal[];
}

async function apply(
  { apply: number = 1, isSure }: ToolsCommand,
  { config, proposals }: Applicable,
  print: Printer,
): Promise<number> {
  const proposal = proposals[number - 1];
  if (!config)
    print.problem('there is no configuration in JSON here that could be changed. Name one with --config FILE.');
  else if (!proposal) print.problem(`there is no proposal ${number}: ${toCountWords(proposals.length)}.`);
  if (!config || !proposal) return 1;
  const isMeant = async (): Promise<boolean> => isSure || isConfirmed(`Write this to ${displayPath(config.path)}?`);
  const isDone = await applyProposal(config, { proposal, isMeant }, print);
  print.note(isDone ? `Written. A gateway that serves this file takes it over.` : 'Nothing was written.');
  return isDone ? 0 : 1;
}

function toCountWords(count: number): string {
  if (count === 0) return 'nothing is proposed for lists below 5,000 tokens, or before a week of calls is known';
  return count === 1 ? 'there is one' : `there are ${count}`;
}

/** The log may be younger than the time that is asked for. */
function toPeriod({ from }: CountedCalls): string {
  if (from === undefined) return 'no calls are recorded yet.';
  const days = Math.min(SHOWN_DAYS, Math.max(1, Math.ceil((Date.now() - from.getTime()) / DAY_MS)));
  return days === 1 ? 'calls are those of the last day.' : `calls are those of the last ${days} days.`;
}

function callsOf(tools: readonly ListedTool[]): number {
  return tools.reduce((sum, { calls }) => sum + calls, 0);
}

function toNumber(value: number): string {
  return value.toLocaleString('en-US');
}

function printTable(rows: string[][], print: Printer): void {
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  const [head, ...lines] = toTable(rows, { width });
  print.line(print.style('dim', head!));
  for (const line of lines) print.line(line);
}
