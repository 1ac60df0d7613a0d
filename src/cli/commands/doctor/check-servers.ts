// Starts each server of a configuration by itself, several at once, and measures it: whether it starts, what it speaks, how long its first list takes, what
// its tools cost, and why it fails.
import { enabledServers } from '../../../config/config.ts';
import { toEntries } from '../../../config/apply/build-gateway.ts';
import type { ParleyConfig } from '../../../config/config.ts';
import type { CommandAddress, UrlAddress } from '../../../mcp/connect/address.ts';
import { connectAs } from '../../../sdk/client/connect.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { tokensOfTools } from '../../../kernel/text/tool-cost.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { version } from '../../../kernel/version.ts';
import { loginAddress } from '../../../mcp/connect/accounts/login-address.ts';
import { ownLogin } from '../../login/own-logins.ts';
import { formatError } from '../../terminal/format-error.ts';
import type { CommandConfig } from '../../trust/load-command-config.ts';
import { firstErrorLine } from './first-error-line.ts';
import { ok } from './report.ts';
import type { CheckOutcome } from './report.ts';

const AT_ONCE = 8;
const MANY_TOKENS = 20_000;
/** Of what a server writes to stderr. */
const MAX_SAID = 64 * 1024;

interface ServersCheck {
  config: ParleyConfig;
  timeoutMs: number;
  checkStart: CommandConfig['checkStart'];
}

export async function checkServers(what: ServersCheck): Promise<CheckOutcome[]> {
  const entries = toEntries(what.config);
  const waiting = enabledServers(what.config).map(([name], index) => ({ name, index }));
  const found: CheckOutcome[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { server } = entries[next.name] as unknown as { server: CommandAddress | UrlAddress };
      const { revision } = what.config.servers[next.name]!;
      found[next.index] = await checkServer({ ...what, name: next.name, server, revision });
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, waiting.length) }, work));
  return [...found, ...(found.some(({ level }) => level === 'ok') ? [sumOf(found)] : [])];
}

interface OneServer extends ServersCheck {
  name: string;
  server: CommandAddress | UrlAddress;
  revision: string | undefined;
}

async function checkServer({ name, server, revision, timeoutMs, checkStart }: OneServer): Promise<CheckOutcome> {
  const check = `server ${name}`;
  const { log, said } = keepStderr();
  const begun = performance.now();
  try {
    if ('command' in server) checkStart?.(server);
    const { url, auth } = loginAddress(server) ?? {};
    const login = url && ownLogin({ url, name, login: auth }, { log });
    const options = {
      name: 'parley',
      version: version(),
      log,
      timeoutMs,
      probeMs: timeoutMs,
      ...(revision !== undefined && { revision }),
      ...('command' in server && { prefer: 'handshake' as const }),
    };
    const client = await connectAs(server, options, login);
    try {
      const tools = client.server.capabilities.tools ? ((await client.listTools()) as object[] as JsonObject[]) : [];
      const ms = Math.round(performance.now() - begun);
      const tokens = tokensOfTools(tools);
      const measured = { revision: client.server.revision, firstListMs: ms, tools: tools.length, tokens };
      const many = `${tools.length} tool${tools.length === 1 ? '' : 's'}, about ${tokens} tokens`;
      return ok(check, `speaks ${client.server.revision}; first list after ${ms} ms; ${many}`, measured);
    } finally {
      void client.close();
    }
  } catch (thrown) {
    return failure(check, thrown, said());
  }
}

function failure(check: string, thrown: unknown, said: string): CheckOutcome {
  const line = firstErrorLine(said) ?? firstErrorLine((thrown as Error).message);
  const text = formatError(thrown);
  const what = line === undefined ? text : `${line} – ${text}`;
  return { check, level: 'problem', what, measured: { reason: (thrown as Error).message, stderr: said.slice(-4000) } };
}

function sumOf(found: readonly CheckOutcome[]): CheckOutcome {
  const sum = (key: string): number => found.reduce((all, { measured }) => all + (Number(measured?.[key]) || 0), 0);
  const [tools, tokens] = [sum('tools'), sum('tokens')];
  const what = `${tools} tools, about ${tokens} tokens in the context of every model that gets them all`;
  if (tokens < MANY_TOKENS) return ok('tools', what, { tools, tokens });
  const fix = 'Hide what nobody needs ("tools": { "deny": […] }), or let models search: docs/guides.';
  return { check: 'tools', level: 'warning', what, fix, measured: { tools, tokens } };
}

/** Everything that the server writes to stderr, up to a limit: the line that says why it ends is seldom the last one. */
function keepStderr(): { log: Log; said: () => string } {
  let text = '';
  const keep = (fields: object, event: string): void => {
    if (event === 'upstream.stderr' && text.length < MAX_SAID && isObject(fields))
      text += `${String(fields['text'])}\n`;
  };
  const nothing = (): void => {};
  const log: Log = { debug: keep, info: keep, warn: nothing, error: nothing, child: () => log };
  return { log, said: () => text };
}
