// Converts what other clients write in their own way: names of variables in place of values (Codex), servers of one project (Claude Code), and
// servers that stand elsewhere (foreign-blocks.ts). Runs before variables are filled in.
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { ConfigPath, SourcePositions, ConfigProblems } from '../check/config-problems.ts';
import { BLOCKS } from '../check/schema.ts';
import { fromForeignBlocks } from './foreign-blocks.ts';

interface ClientFormatContext {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  places: SourcePositions;
  problems: ConfigProblems;
  /** It is a file of Parley, by its name. */
  isOwn?: boolean;
}

export function normalizeClientFormats(
  config: Record<string, unknown>,
  context: ClientFormatContext,
): Record<string, unknown> {
  const found = withProject(config, context);
  const known = context.isOwn ? found : { ...fromForeignBlocks(found, context) };
  for (const block of BLOCKS) {
    const entries = known[block];
    if (!isObject(entries)) continue;
    known[block] = Object.fromEntries(
      Object.entries(entries).map(([name, entry]) => [
        name,
        isObject(entry) ? fromCodex(entry, [block, name], context) : entry,
      ]),
    );
  }
  return known;
}

/** Servers of the projects in `~/.claude.json`, by folder. */
export function projectServers({ projects }: Record<string, unknown>): Map<string, JsonObject> {
  const entries = isObject(projects) ? Object.entries(projects) : [];
  return new Map(
    entries.flatMap(([folder, project]): [string, JsonObject][] => {
      const servers = isObject(project) ? project['mcpServers'] : undefined;
      return isObject(servers) && Object.keys(servers).length > 0 ? [[folder, servers]] : [];
    }),
  );
}

/** As in Claude Code, a server of the project wins over one of the user with the same name. */
function withProject(
  config: Record<string, unknown>,
  { cwd, places, problems }: ClientFormatContext,
): Record<string, unknown> {
  const others: string[] = [];
  let known = { ...config };
  for (const [folder, servers] of projectServers(config)) {
    if (folder !== cwd) {
      others.push(folder);
      continue;
    }
    const names = Object.keys(servers).join(', ');
    const hint = 'They are those of the folder in which Parley was started.';
    problems.note(['projects', folder], `the servers of this project are served, too: ${names}`, hint);
    places.copy(['projects', folder, 'mcpServers'], ['mcpServers']);
    const { mcpServers } = config;
    known = { ...known, mcpServers: { ...(isObject(mcpServers) ? mcpServers : {}), ...servers } };
  }
  if (others.length > 0) {
    const hint = 'To serve those of a project, start Parley in its folder, or copy them to "mcpServers".';
    problems.note(['projects'], `servers of other projects are not served: ${others.join(', ')}`, hint);
  }
  return known;
}

/** Values of a wrong type stay, so that the checks report them. */
function fromCodex(entry: JsonObject, path: ConfigPath, { env, places, problems }: ClientFormatContext): JsonObject {
  const { http_headers, env_http_headers, bearer_token_env_var, env_vars, ...rest } = entry;
  const known: JsonObject = { ...rest };
  const headers: JsonObject = {};
  if (isObject(http_headers)) {
    Object.assign(headers, http_headers);
    places.copy([...path, 'http_headers'], [...path, 'headers']);
  } else if (http_headers !== undefined) known['http_headers'] = http_headers;
  if (isObject(env_http_headers)) {
    for (const [name, variable] of Object.entries(env_http_headers)) headers[name] = `\${${String(variable)}}`;
    places.copy([...path, 'env_http_headers'], [...path, 'headers']);
  } else if (env_http_headers !== undefined) known['env_http_headers'] = env_http_headers;
  if (typeof bearer_token_env_var === 'string') {
    headers['Authorization'] = `Bearer \${${bearer_token_env_var}}`;
    places.copy([...path, 'bearer_token_env_var'], [...path, 'headers', 'Authorization']);
  } else if (bearer_token_env_var !== undefined) known['bearer_token_env_var'] = bearer_token_env_var;
  if (Object.keys(headers).length > 0 && (rest.headers === undefined || isObject(rest.headers))) {
    known['headers'] = { ...headers, ...rest.headers };
  }
  if (Array.isArray(env_vars)) {
    const names = env_vars.map((one: unknown) => (isObject(one) ? one['name'] : one)).filter(isVariable);
    const passed = names.filter((name) => env[name] !== undefined).map((name) => [name, `\${${name}}`]);
    if (passed.length > 0) known['env'] = { ...Object.fromEntries(passed), ...(isObject(rest.env) ? rest.env : {}) };
  } else if (env_vars !== undefined) known['env_vars'] = env_vars;
  if (rest['enabled'] === false) known['disabled'] ??= true;
  const { tool_timeout_sec: seconds } = rest;
  if (typeof seconds === 'number' && seconds > 0 && !Number.isInteger(seconds)) {
    known['timeoutMs'] ??= Math.ceil(seconds * 1000); // Codex accepts fractions of seconds
    delete known['tool_timeout_sec'];
  }
  return withoutApprovals(known, path, problems);
}

/** `[mcp_servers.a.tools.b]` says how Codex approves a tool; Parley's rules are lists and texts. */
function withoutApprovals(entry: JsonObject, path: ConfigPath, problems: ConfigProblems): JsonObject {
  const { tools } = entry;
  if (!isObject(tools)) return entry;
  const approvals = Object.keys(tools).filter((name) => isObject(tools[name]));
  if (approvals.length === 0) return entry;
  const hint = 'For approvals of Parley, name tools in "approve" of "tools".';
  problems.warn([...path, 'tools'], `how Codex approves ${approvals.join(', ')} has no effect here`, hint);
  const rules = Object.entries(tools).filter(([name]) => !approvals.includes(name));
  return { ...entry, tools: rules.length > 0 ? Object.fromEntries(rules) : null };
}

function isVariable(name: unknown): name is string {
  return typeof name === 'string' && /^[A-Za-z_]\w*$/.test(name);
}
