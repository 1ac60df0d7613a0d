// A call as an event of the audit log.
import type { AuditEvent } from '../../../kernel/audit.ts';
import type { ObservedCall } from '../../../kernel/events/observed-call.ts';
import type { JsonObject } from '../../../kernel/message.ts';

export function toCallEvent(
  call: ObservedCall,
  { outcome, showArguments }: { outcome: string | undefined; showArguments: (given: unknown) => unknown },
): AuditEvent {
  const { exchange, shownName, findings, ms } = call;
  const { id, method, client, decision } = exchange;
  const { name = shownName } = call;
  const given = call.params.arguments;
  const key = client.connection?.identity?.key;
  const details: JsonObject = { client: client.info.name };
  if (key !== undefined) details.key = key;
  if (name !== shownName && shownName !== undefined) details.as = shownName;
  if (given !== undefined) details.arguments = showArguments(given);
  if (findings) details.findings = findings;
  const { principal, server } = call;
  return { kind: 'call', exchange: id, principal, server, method, name, decision, outcome, ms, details };
}
