// What would happen if somebody called a tool: the features judge the call as they judge a real one, and nothing is called, asked or noted.
import { settledWithin } from '../../../../kernel/base/timing.ts';
import { printable, visible } from '../../../../kernel/base/visible.ts';
import { isObject } from '../../../../kernel/message.ts';
import type { JsonObject } from '../../../../kernel/message.ts';
import { secrets } from '../../../../kernel/secrets/secrets.ts';
import { lookAtTools } from '../../../servers/gateway-status.ts';
import type { GatewayContext } from '../../feature.ts';
import type { JudgedCall } from '../../judged-call.ts';
import { findCaller } from './callers.ts';
import type { ConnectedClients } from '../connected-clients.ts';
import type { WhatIfView } from '../views.ts';

interface WhatIfSources {
  readonly context: GatewayContext;
  readonly clients: ConnectedClients;
}

export interface AskedCall {
  readonly caller: string;
  readonly server: string;
  readonly tool: string;
  /** JSON. */
  readonly args: string;
}

const LOOK_MS = 5000;

/** A text instead says why it cannot be judged. */
export async function judgeWhatIf(asked: AskedCall, { context, clients }: WhatIfSources): Promise<WhatIfView | string> {
  const { gateway, login } = context;
  const args = readArguments(asked.args);
  if (!args) return 'The arguments are not a JSON object.';
  if (!gateway.servers.includes(asked.server)) return 'There is no server of this name.';
  if (asked.tool === '') return 'Name a tool.';
  const { client, isKnown } = findCaller(asked.caller, { keys: (await login?.keys()) ?? [], clients });
  const { server, tool } = asked;
  const listed = await toolOf(asked, context);
  const annotations = isObject(listed?.annotations) ? listed.annotations : {};
  const judged = (await gateway.judge({ client, server, tool, args, annotations })).map(toShown);
  const shown = listed === undefined ? [] : await gateway.shownTools({ server, tools: [listed] }, client);
  const isHidden = listed !== undefined && shown.length === 0;
  const decided = decideBy(judged, isHidden);
  return {
    effect: decided?.effect ?? 'allow',
    decided: decided ?? judged.find(({ rule }) => rule !== null) ?? null,
    judged,
    notes: [
      ...(listed ? [] : ['The server does not list this tool, so what it says of it is not known.']),
      ...(isHidden ? ['The tool is not in the list that this caller gets.'] : []),
      ...(isKnown ? [] : ['Nobody of this name is known here: they are taken to have no groups, scopes and claims.']),
      ...(gateway.stepNames.length === 0
        ? []
        : [`Steps come first, and may ask or refuse as well: ${gateway.stepNames.map(visible).join(', ')}.`]),
    ],
  };
}

/** The first one that is against it; else a step that hides the tool; a question is asked where nobody refuses. */
function decideBy(judged: readonly JudgedCall[], isHidden: boolean): JudgedCall | undefined {
  const refusing = judged.find(({ effect }) => effect === 'deny' || effect === 'hide');
  if (refusing || !isHidden) return refusing ?? judged.find(({ effect }) => effect === 'ask');
  return { by: 'a step', effect: 'hide', rule: null, why: 'it hides the tool from this caller', checked: [] };
}

function readArguments(text: string): JsonObject | undefined {
  try {
    const read: unknown = text.trim() === '' ? {} : JSON.parse(text);
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

async function toolOf({ server, tool }: AskedCall, { gateway }: GatewayContext): Promise<JsonObject | undefined> {
  const member = gateway.members.find(({ name }) => name === server);
  if (!member) return undefined;
  const giveUp = new AbortController();
  let found: JsonObject | undefined;
  const looked = lookAtTools(member.target, giveUp.signal).then((tools) => {
    found = tools.find(({ name }) => name === tool);
  });
  if (!(await settledWithin(looked, LOOK_MS))) giveUp.abort();
  return found;
}

function toShown({ by, rule, why, checked, effect }: JudgedCall): JudgedCall {
  const show = (text: string): string => printable(secrets.mask(text));
  return { by: show(by), rule: rule === null ? null : show(rule), why: show(why), checked, effect };
}
