// Makes a call again that the console has kept, for the operator: through all layers and steps, as that of a client without a login. A tool that is not known to
// only read runs again only after a yes of the operator: what a server says of its own tools counts where the operator trusts it.
import { sessionClient } from '../../../../mcp/eras/own-clients.ts';
import { settledWithin } from '../../../../kernel/base/timing.ts';
import { InternalExchange } from '../../../../kernel/internal-exchange.ts';
import { isObject } from '../../../../kernel/message.ts';
import type { JsonObject } from '../../../../kernel/message.ts';
import { CALL_TOOL, LIST_TOOLS } from '../../../../kernel/methods.ts';
import { toPlainObject } from '../../../../kernel/raw/raw-object.ts';
import { MASKED } from '../../../../kernel/secrets/secrets.ts';
import type { Target } from '../../../../kernel/target.ts';
import { version } from '../../../../kernel/version.ts';
import type { GatewayView } from '../../feature.ts';
import type { CallView } from '../views.ts';

/** What became of it: `running` if it has not ended yet, such as while a person is asked. */
export type RepeatOutcome = 'done' | 'running' | 'needs-yes' | { readonly problem: string };

const CLIENT = 'parley-console';
const WAIT_MS = 3000;

/** A task is awaited to its end. */
class OperatorCall extends InternalExchange {
  readonly awaitsTask = true;
}

const operator = sessionClient({ name: CLIENT, version: version() }, 'local');

export async function repeatCall(
  view: CallView,
  { gateway, isConfirmed }: { gateway: GatewayView; isConfirmed: boolean },
): Promise<RepeatOutcome> {
  const args = argumentsOf(view);
  if (typeof args === 'string') return { problem: args };
  const found = await findTool(view, gateway);
  if (!found) return { problem: 'The gateway does not show this tool any more.' };
  const { front, entry, isTrusted } = found;
  const isReadOnly = isTrusted && isObject(entry.annotations) && entry.annotations.readOnlyHint === true;
  if (!isReadOnly && !isConfirmed) return 'needs-yes';
  const call = new OperatorCall(CALL_TOOL, { name: entry.name, arguments: args }, operator);
  let problem: string | undefined;
  const called = (async () => front.handle(call))().then(
    () => {},
    (thrown: Error) => void (problem = thrown.message),
  );
  if (!(await settledWithin(called, WAIT_MS))) return 'running';
  return problem === undefined ? 'done' : { problem };
}

/** A text says why they are not known. */
function argumentsOf({ row, legs }: CallView): JsonObject | string {
  const sent = legs.find(({ kind }) => kind === 'called');
  if (!row.isTool || row.server === null) return 'This was not the call of a tool that reached a server.';
  if (!sent?.text) return 'Its arguments were not kept: nobody was looking.';
  if (sent.isCut) return 'Its arguments were too long to be kept whole.';
  if (sent.text.includes(MASKED)) return 'Its arguments had a secret in them, which was not kept.';
  const { arguments: args = {} } = JSON.parse(sent.text) as { arguments?: unknown };
  return isObject(args) ? args : 'Its arguments are not an object.';
}

interface FoundTool {
  readonly front: Target;
  readonly entry: JsonObject;
  /** The operator believes what its server says of it. */
  readonly isTrusted: boolean;
}

async function findTool({ row }: CallView, gateway: GatewayView): Promise<FoundTool | undefined> {
  const member = gateway.members.find(({ name }) => name === row.server);
  if (!member) return undefined;
  const front = gateway.front(member.name); // there its tools have no names of other servers beside them
  const { tools } = toPlainObject(await front.handle(new InternalExchange(LIST_TOOLS, {}, operator)));
  const entries = Array.isArray(tools) ? (tools as unknown[]).filter((one): one is JsonObject => isObject(one)) : [];
  const named = (name: string | null) => entries.find((one) => one.name === name);
  const entry = named(row.name) ?? named(row.shownName);
  const { trustAnnotations } = (member.settings ?? {}) as { trustAnnotations?: boolean };
  return entry === undefined ? undefined : { front, entry, isTrusted: trustAnnotations === true };
}
