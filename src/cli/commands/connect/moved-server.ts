// A server of a client as an entry of Parley's own configuration. What Parley could not start in the same way stays where it is, with the reason.
import { dirname, isAbsolute, resolve } from 'node:path';
import { ConfigProblems, SourcePositions } from '../../../config/check/config-problems.ts';
import { SERVER } from '../../../config/check/server-shape.ts';
import type { ClientSpec } from '../../../config/client-table.ts';
import type { Environment } from '../../../config/read/find-config.ts';
import { normalizeClientFormats } from '../../../config/read/client-formats.ts';
import { readConfig } from '../../../config/read/load-config.ts';
import { isParleyEntry } from '../../../config/read/omit-servers.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';

export interface MovedServer {
  name: string;
  server: JsonObject;
  /** Keys that mean nothing to Parley. */
  left: string[];
}

export interface KeptServer {
  name: string;
  reason: string;
  /** It leads to Parley: there is nothing to add. */
  isParley?: boolean;
}

interface MoveContext {
  client: ClientSpec;
  /** The file of the client: its relative paths begin there. */
  path: string;
  environment: Environment;
  /** The whole file, for lists of what is allowed. */
  file: Record<string, unknown>;
}

export function toMovedServer(name: string, entry: unknown, context: MoveContext): MovedServer | KeptServer {
  const kept = (reason: string): KeptServer => ({ name, reason });
  if (!isObject(entry)) return kept('it is not an object');
  const asks = whyKept(entry, context);
  if (asks !== undefined) return kept(asks);
  const known = fromClient(name, entry, context);
  if (!known) return kept(`Parley cannot start an entry of this kind`);
  if (isParleyEntry(known)) return { name, reason: 'it leads to Parley', isParley: true };
  const { server, left } = toOwn(known, context);
  const { command } = server;
  if (typeof command === 'string' && /[/\\]/.test(command) && !isAbsolute(command) && !/^[~$]|^\w:/.test(command))
    return kept(`its command is relative to the folder in which ${context.client.name} runs`);
  const problem = firstProblem(name, server, context.environment);
  return problem === undefined ? { name, server, left } : kept(problem);
}

/** What only the client itself can do for its server. */
function whyKept(entry: JsonObject, { client }: MoveContext): string | undefined {
  const text = JSON.stringify(entry);
  if (client.format === 'json' && text.includes('${input:')) return `${client.name} asks for its inputs`;
  if (client.variables === 'continue' && text.includes('${{')) return `its secrets are with ${client.name}`;
  const keys: unknown = entry['env_keys'];
  if (Array.isArray(keys) && keys.length > 0) return `its secrets are in the keychain of ${client.name}`;
  if (entry['headersHelper'] !== undefined) return 'a helper makes its headers';
  return undefined;
}

/** With the keys that Parley reads in the files of clients. */
function fromClient(
  name: string,
  entry: JsonObject,
  { client, environment, file }: MoveContext,
): JsonObject | undefined {
  const [key = ''] = client.key;
  const block = client.container === 'list' ? [entry] : { [name]: entry };
  const mcp = key === 'mcpServers' && isObject(file['mcp']) ? { mcp: file['mcp'] } : {};
  const { env_vars: passed } = entry;
  const names = (Array.isArray(passed) ? (passed as unknown[]) : []).map((one) => (isObject(one) ? one['name'] : one));
  const value = normalizeClientFormats(
    { ...(client.container === 'list' && { name: client.name }), ...mcp, [key]: block },
    {
      cwd: environment.cwd,
      env: Object.fromEntries(names.map((one) => [String(one), ''])), // all that it names, whether they are set now or not
      places: new SourcePositions(''),
      problems: new ConfigProblems(),
    },
  );
  const servers = value['mcpServers'] ?? value['servers'] ?? value['mcp_servers'];
  const found = isObject(servers) ? servers[name] : undefined;
  return isObject(found) ? found : undefined;
}

const KNOWN = SERVER.kind === 'object' ? SERVER.keys : {};

/** With keys that Parley knows, paths that do not depend on the file, and variables as Parley fills them in. */
function toOwn(entry: JsonObject, { client, path }: MoveContext): { server: JsonObject; left: string[] } {
  const isKnown = (key: string): boolean => KNOWN[key] !== undefined && KNOWN[key].kind !== 'foreign';
  const { enabled: _, env_vars: _names, ...rest } = entry;
  const keys = Object.keys(rest);
  const filled = keys.filter((key) => isKnown(key) && !isEmpty(rest[key]));
  const known = Object.fromEntries(filled.map((key) => [key, rest[key]]));
  for (const key of ['cwd', 'envFile']) {
    const at: unknown = known[key];
    if (typeof at === 'string' && !/^[~$]/.test(at)) known[key] = resolve(dirname(path), at);
  }
  return { server: withVariables(known, client.variables) as JsonObject, left: keys.filter((key) => !isKnown(key)) };
}

/** Two clients mean the same with `env: {}` and without. */
function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function withVariables(value: unknown, style: ClientSpec['variables']): unknown {
  if (typeof value === 'string') return withVariable(value, style);
  if (Array.isArray(value)) return value.map((one) => withVariables(one, style));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withVariables(one, style)]));
}

/** A variable that is not set is an error for Parley, and empty for most clients; one server must not end the others. */
function withVariable(text: string, style: ClientSpec['variables']): string {
  if (style === 'none') return OWN_REFERENCE.test(text) ? text : text.replaceAll('${', '$${');
  const braces = style === 'dollar' ? text.replaceAll(/(?<![$\w])\$([A-Za-z_]\w*)/g, '${$1}') : text;
  return braces.replaceAll(/(?<!\$)\$\{((?:env:)?[A-Za-z_]\w*)\}/g, (whole, name: string) =>
    isFolder(name) ? whole : `\${${name}:-}`,
  );
}

/** What Codex names by variables has become a reference of ours. */
const OWN_REFERENCE = /^(?:Bearer )?\$\{\w+\}$/;

function isFolder(name: string): boolean {
  return /^(?:workspaceFolder|workspaceFolderBasename|userHome|pathSeparator|cwd)$/.test(name);
}

/** Of this server alone in the user's own configuration. */
function firstProblem(name: string, server: JsonObject, environment: Environment): string | undefined {
  const text = JSON.stringify({ mcpServers: { [name]: server } });
  const path = 'parley.config.json';
  const { problems } = readConfig({ path, text }, { ...environment, read: () => '' });
  return problems.find(({ level }) => level === 'error')?.message;
}
