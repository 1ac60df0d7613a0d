// What would make the list of tools cheaper, as changes of a configuration.
import { isObject } from '../../../kernel/message.ts';
import { toServerCosts } from './listed-tool.ts';
import type { ListedTool } from './listed-tool.ts';

/** A value at a place of the configuration; what is there is replaced. */
export interface ProposedChange {
  path: readonly string[];
  value: unknown;
}

export interface Proposal {
  /** What it does, as one sentence. */
  text: string;
  /** Tokens that a client saves. */
  saves: number;
  changes: readonly ProposedChange[];
}

/** Below this a list is cheap. */
const DEAR_TOKENS = 5000;
/** What `find_tools` and `call_tool` cost. */
const SEARCH_TOKENS = 210;
/** Less than that says nothing about what is used. */
const ENOUGH_DAYS = 7;

interface Known {
  tools: readonly ListedTool[];
  /** The configuration as it is written. */
  written: Record<string, unknown>;
  /** How many days of calls are known. */
  days: number;
}

/** The one that saves most first. */
export function toProposals({ tools, written, days }: Known): Proposal[] {
  const own = tools.filter(({ server }) => isObject(serverIn(written, server)));
  const unused = days < ENOUGH_DAYS ? [] : [...denyUnused(own, written), ...groupUsed(own, written)];
  return [...unused, ...search(tools, written)].filter(({ saves }) => saves > 0).toSorted((a, b) => b.saves - a.saves);
}

/** For each server: its tools that nobody has called. */
function denyUnused(tools: readonly ListedTool[], written: Record<string, unknown>): Proposal[] {
  return [...new Set(tools.map(({ server }) => server))].map((server) => {
    const own = tools.filter((tool) => tool.server === server);
    const idle = own.filter(({ calls }) => calls === 0);
    const rules = (serverIn(written, server) as { tools?: unknown }).tools;
    const denied = isObject(rules) && Array.isArray(rules.deny) ? (rules.deny as unknown[]) : [];
    const isAll = idle.length === own.length;
    const names = isAll ? ['*'] : idle.map(({ ownName }) => ownName).toSorted();
    return {
      text: isAll
        ? `deny all ${own.length} tools of ${server}, which nobody has called`
        : `deny ${idle.length} of ${own.length} tools of ${server}, which nobody has called`,
      saves: sumOf(idle),
      changes: [{ path: [...pathOf(written, server), 'tools', 'deny'], value: [...denied, ...names] }],
    };
  });
}

/** A URL for clients that need only what is used; all others see everything as before. */
function groupUsed(tools: readonly ListedTool[], written: Record<string, unknown>): Proposal[] {
  const costs = toServerCosts(tools);
  const used = costs.filter(({ calls }) => calls > 0).map(({ server }) => server);
  const isWorth = used.length > 0 && costs.length - used.length >= 2;
  if (!isWorth || written.groups !== undefined) return [];
  const saves = sumOf(tools.filter(({ server }) => !used.includes(server)));
  const text = `make a group of the ${used.length} servers that are used, for clients that connect to /mcp/used`;
  return [{ text, saves, changes: [{ path: ['groups'], value: { used: used.toSorted() } }] }];
}

function search(tools: readonly ListedTool[], written: Record<string, unknown>): Proposal[] {
  const saves = sumOf(tools) - SEARCH_TOKENS;
  const steps = written.steps ?? [];
  if (saves < DEAR_TOKENS || !Array.isArray(steps) || steps.some(isDiscover)) return [];
  const step = { discover: { mode: 'search', clients: { 'claude-code*': 'hints' } } };
  const text = 'list two tools that find and call the others; Claude Code, which searches itself, gets hints';
  return [{ text, saves, changes: [{ path: ['steps'], value: [step, ...(steps as unknown[])] }] }];
}

function isDiscover(step: unknown): boolean {
  return step === 'discover' || (isObject(step) && 'discover' in step);
}

const SERVER_KEYS = ['mcpServers', 'servers', 'mcp_servers'];

function pathOf(written: Record<string, unknown>, server: string): string[] {
  const key = SERVER_KEYS.find((one) => isObject(written[one]) && Object.hasOwn(written[one], server));
  return [key ?? SERVER_KEYS[0]!, server];
}

function serverIn(written: Record<string, unknown>, server: string): unknown {
  const [key, name] = pathOf(written, server);
  const servers = written[key!];
  return isObject(servers) && Object.hasOwn(servers, name!) ? servers[name!] : undefined;
}

function sumOf(tools: readonly ListedTool[]): number {
  return tools.reduce((sum, { tokens }) => sum + tokens, 0);
}
