// Calls a tool for the operator of the console: through all layers and steps, as a client without a login, so that rules, approvals and the audit log hold. A tool
// that is not known to only read runs only after a yes of the operator: what a server says of its own tools counts where the operator trusts it.
import { sessionClient } from '../../../../mcp/eras/own-clients.ts';
import { settledWithin } from '../../../../kernel/base/timing.ts';
import { InternalExchange } from '../../../../kernel/internal-exchange.ts';
import { isObject } from '../../../../kernel/message.ts';
import type { JsonObject } from '../../../../kernel/message.ts';
import { CALL_TOOL, LIST_TOOLS } from '../../../../kernel/methods.ts';
import { toPlainObject } from '../../../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../../../kernel/raw/raw-object.ts';
import type { Target } from '../../../../kernel/target.ts';
import { version } from '../../../../kernel/version.ts';
import type { GatewayView } from '../../feature.ts';

/** What became of it: `running` if it has not ended yet, such as while a person is asked. */
export type OperatorOutcome =
  | { readonly result: ResultObject }
  | 'running'
  | 'needs-yes'
  | { readonly problem: string };

interface WantedCall {
  readonly server: string;
  /** By which the tool may be known, the most likely first. */
  readonly names: readonly (string | null)[];
  readonly args: JsonObject;
}

const CLIENT = 'parley-console';
const WAIT_MS = 3000;

/** A task is awaited to its end. */
class OperatorCall extends InternalExchange {
  readonly awaitsTask = true;
}

const operator = sessionClient({ name: CLIENT, version: version() }, 'local');

export async function callAsOperator(
  { server, names, args }: WantedCall,
  { gateway, isConfirmed }: { gateway: GatewayView; isConfirmed: boolean },
): Promise<OperatorOutcome> {
  const found = await findTool(server, names, gateway);
  if (!found) return { problem: 'The gateway does not show this tool any more.' };
  const { front, entry, isTrusted } = found;
  const isReadOnly = isTrusted && isObject(entry.annotations) && entry.annotations.readOnlyHint === true;
  if (!isReadOnly && !isConfirmed) return 'needs-yes';
  const call = new OperatorCall(CALL_TOOL, { name: entry.name, arguments: args }, operator);
  let outcome = 'running' as OperatorOutcome;
  const called = (async () => front.handle(call))().then(
    (result) => void (outcome = { result }),
    (thrown: Error) => void (outcome = { problem: thrown.message }),
  );
  await settledWithin(called, WAIT_MS);
  return outcome;
}

interface FoundTool {
  readonly front: Target;
  readonly entry: JsonObject;
  /** The operator believes what its server says of it. */
  readonly isTrusted: boolean;
}

async function findTool(
  server: string,
  names: WantedCall['names'],
  gateway: GatewayView,
): Promise<FoundTool | undefined> {
  const member = gateway.members.find(({ name }) => name === server);
  if (!member) return undefined;
  const front = gateway.front(member.name); // there its tools have no names of other servers beside them
  const { tools } = toPlainObject(await front.handle(new InternalExchange(LIST_TOOLS, {}, operator)));
  const entries = Array.isArray(tools) ? (tools as unknown[]).filter((one): one is JsonObject => isObject(one)) : [];
  const [entry] = names.flatMap((name) => entries.filter((one) => one.name === name));
  const { trustAnnotations } = (member.settings ?? {}) as { trustAnnotations?: boolean };
  return entry === undefined ? undefined : { front, entry, isTrusted: trustAnnotations === true };
}
