// Finds all problems of a configuration. Pure: files and environment have been read before.
import { isStoreUrl } from '../../flow/store/store-url.ts';
import { isNetwork } from '../../mcp/listen/http/client-address.ts';
import { MIN_KEY_LENGTH } from '../../kernel/crypto/state-keys.ts';
import { checkAuth, checkLogin } from './check-auth.ts';
import { checkRules } from './check-rules.ts';
import { checkServer, checkServerNames, toServerName } from './check-server.ts';
import { checkShape } from './check-shape.ts';
import type { CheckContext } from './check-shape.ts';
import { checkSteps } from './check-steps.ts';
import { toPathId } from './config-problems.ts';
import type { ConfigPath, ConfigProblems } from './config-problems.ts';
import { BLOCKS, CONFIG } from './schema.ts';
import type { ConfigInput, ModelInput, RootInput } from './schema.ts';
import { didYouMean } from '../../kernel/text/suggest.ts';
import { listServers } from './named-server.ts';

/** The configuration in its shape; usable only without errors. */
export function validateConfig(value: Record<string, unknown>, context: CheckContext): ConfigInput {
  const config = checkShape(value, CONFIG, [], context) as ConfigInput;
  const servers = listServers(config);
  // A file may be for `parley flows` only.
  if (config.flows === undefined && BLOCKS.every((block) => config[block] === undefined)) {
    context.problems.error([], 'there are no servers', 'Add "mcpServers": { "name": { "command": … } }.');
  }
  checkEmpty(value, context.problems);
  for (const { path, server } of servers) {
    const [block, name] = path as [string, string];
    const written = (value[block] as Record<string, unknown>)[name];
    if (server.disabled) continue;
    checkServer({ server, written, path, ...context });
    checkLogin(server, { auth: config.auth, path }, context);
  }
  const groups = Object.keys(config.groups ?? {}).map((name): ConfigPath => ['groups', name]);
  checkServerNames([...servers.map(({ path }) => path), ...groups], context.problems);
  checkGroups(config, context.problems);
  checkSteps(config, context);
  checkRules(config, servers, context.problems);
  checkListen(config, context.problems);
  checkAsk(config, context);
  checkAuth(config, context);
  checkFlows(config, context);
  checkRest(config, context);
  return config;
}

/** Warns about an empty entry: a leftover or a mistake. */
function checkEmpty(value: Record<string, unknown>, problems: ConfigProblems): void {
  for (const block of BLOCKS) {
    for (const [name, entry] of Object.entries(value[block] ?? {})) {
      if (entry === null)
        problems.warn([block, name], 'this server is empty, and left out', 'Give it a command or a URL.');
    }
  }
}

function checkGroups(config: ConfigInput, problems: ConfigProblems): void {
  const known = [...new Set(listServers(config).map(({ name }) => name))].filter((name) => name !== '');
  for (const [group, members] of Object.entries(config.groups ?? {})) {
    if (members.length === 0) problems.error(['groups', group], 'a group without servers', 'Name one, or remove it.');
    members.forEach((member, index) => {
      if (!isText(member) || known.includes(toServerName(member))) return;
      problems.error(['groups', group, index], `no server is called "${member}"`, didYouMean(member, known));
    });
  }
}

function checkListen({ listen }: ConfigInput, problems: ConfigProblems): void {
  if (typeof listen !== 'object') return;
  const { tls } = listen;
  if (tls && (tls.key === undefined || tls.cert === undefined)) {
    problems.error(['listen', 'tls'], 'TLS needs both "key" and "cert"', 'Give the paths of two PEM files.');
  }
  for (const [index, network] of (Array.isArray(listen.trustProxy) ? listen.trustProxy : []).entries())
    if (network !== undefined && !isNetwork(network))
      problems.error(
        ['listen', 'trustProxy', index],
        'this is not an address or network',
        'Such as 10.0.0.0/8 or ::1.',
      );
  if (listen.stdio && listen.port === undefined && (tls ?? listen.host) !== undefined) {
    problems.warn(['listen'], 'without "port" only stdio is served', 'Add "port", or remove "host" and "tls".');
  }
}

function checkAsk({ ask, roots = [] }: ConfigInput, context: CheckContext): void {
  if (ask?.model) checkModel(ask.model, context);
  if (Array.isArray(ask?.trust)) checkTrust(ask.trust, context);
  roots.forEach((root, index) => root !== undefined && checkRoot(root, ['roots', index], context));
}

function checkModel({ url, model: names }: ModelInput, { problems, missing }: CheckContext): void {
  const at = ['ask', 'model'];
  if (url === undefined) problems.error(at, '"url" is missing', 'Such as https://api.example.com/v1.');
  else if (!missing.has(toPathId([...at, 'url'])) && !(URL.canParse(url) && /^https?:/i.test(url))) {
    problems.error([...at, 'url'], 'this is not an http:// or https:// URL', 'Such as https://api.example.com/v1.');
  }
  const isNamed = typeof names === 'string' ? names.trim() !== '' : (names?.length ?? 0) > 0;
  if (!isNamed) problems.error(at, '"model" is missing', 'Say what the endpoint calls the model.');
}

function checkTrust(trust: readonly unknown[], { problems }: CheckContext): void {
  trust.forEach((word, index) => {
    if (word === 'stdio' || (typeof word === 'string' && /^(key|user):./.test(word))) return;
    const hint = 'Write "stdio", "key:NAME" or "user:NAME"; the name that a client gives itself proves nothing.';
    problems.error(['ask', 'trust', index], 'this names no client that can be trusted', hint);
  });
}

function checkRoot(root: RootInput, path: ConfigPath, { problems, missing }: CheckContext): void {
  if (typeof root === 'string') return checkUri(root, path, { problems, missing, isPath: true });
  const { uri, path: folder } = root;
  const hint = 'Give "path", or "uri".';
  if (uri === undefined && folder === undefined) problems.error(path, 'neither "path" nor "uri" is given', hint);
  if (uri !== undefined && folder !== undefined) problems.error(path, 'both "path" and "uri" are given', 'Keep one.');
  if (uri !== undefined) checkUri(uri, [...path, 'uri'], { problems, missing, isPath: false });
}

interface UriCheck {
  problems: ConfigProblems;
  missing: ReadonlySet<string>;
  /** The text may also be a path. */
  isPath: boolean;
}

function checkUri(text: string, path: ConfigPath, { problems, missing, isPath }: UriCheck): void {
  if (missing.has(toPathId(path)) || isFileUri(text)) return;
  if (isPath && !/^[a-z][a-z\d+.-]+:\/\//i.test(text)) return;
  problems.error(path, 'this is not a file:// URI', 'Roots are folders, such as file:///srv/project.');
}

export function isFileUri(text: string): boolean {
  return /^file:\/\//i.test(text) && URL.canParse(text);
}

function checkFlows({ flows }: ConfigInput, { problems, missing }: CheckContext): void {
  if (!flows || missing.has(toPathId(['flows', 'store']))) return;
  if (isStoreUrl(flows.store ?? '')) return;
  const path = flows.store === undefined ? ['flows'] : ['flows', 'store'];
  problems.error(path, 'no store is named', 'Write "store": "sqlite:flows.db", or "redis://localhost".');
}

function checkRest({ publicUrl, keys, state }: ConfigInput, { problems, missing }: CheckContext): void {
  const isUrl = publicUrl === undefined || (URL.canParse(publicUrl) && /^https?:/.test(publicUrl));
  if (!isUrl && !missing.has(toPathId(['publicUrl']))) {
    problems.error(['publicUrl'], 'this is not an http:// or https:// URL', 'Such as https://mcp.example.com.');
  }
  const list = typeof keys === 'string' ? [keys] : (keys ?? []);
  if (state?.startsWith('redis') && list.length === 0)
    problems.error(['state'], 'it needs "keys", which seal what is in Redis', 'Add "keys", the same at all gateways.');
  list.forEach((key, index) => {
    const path = typeof keys === 'string' ? ['keys'] : ['keys', index];
    if (!isText(key) || key.length >= MIN_KEY_LENGTH || missing.has(toPathId(path))) return;
    problems.error(
      path,
      `this key is too short: it needs ${MIN_KEY_LENGTH} characters`,
      'Make one with: openssl rand -base64 32.',
    );
  });
}

/** An item that did not match its shape has been reported, and is undefined in its list. */
function isText(value: string | undefined): value is string {
  return value !== undefined;
}
