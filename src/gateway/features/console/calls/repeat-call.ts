// Makes a call again that the console has kept, for the operator.
import { isObject } from '../../../../kernel/message.ts';
import type { JsonObject } from '../../../../kernel/message.ts';
import { MASKED } from '../../../../kernel/secrets/secrets.ts';
import type { GatewayView } from '../../feature.ts';
import type { CallView } from '../views.ts';
import { callAsOperator } from './operator-call.ts';
import type { OperatorOutcome } from './operator-call.ts';

export async function repeatCall(
  view: CallView,
  options: { gateway: GatewayView; isConfirmed: boolean },
): Promise<OperatorOutcome> {
  const args = argumentsOf(view);
  if (typeof args === 'string') return { problem: args };
  const { server, name, shownName } = view.row;
  return callAsOperator({ server: server!, names: [name, shownName], args }, options);
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
