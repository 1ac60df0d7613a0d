// The URL at which one event of one session is delivered by HTTP.
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { AwaitedEvent } from '../../authoring/awaited-event.ts';
import type { SessionContext } from '../context/session-context.ts';

export interface EventAddress {
  sessionId: string;
  /** With `#n` from its second use on. */
  key: string;
}

const PURPOSE = 'flow-event';
const MAX_LENGTH = 2000;

export const EVENT_PATH = '/event';

/** The URL that receives one event of one session by HTTP. It contains a sealed token. */
export async function toEventUrl(
  { sealer, baseUrl }: SessionContext,
  sessionId: string,
  event: AwaitedEvent<unknown>,
): Promise<string> {
  const base = await baseUrl?.();
  if (base === undefined) {
    const reason = `the URL of the event ${event.key} is needed, but this server cannot be reached by HTTP; set publicUrl`;
    throw new GatewayError('FLOW_MISUSED', { flow: 'a flow', reason });
  }
  return `${base.replace(/\/+$/, '')}${EVENT_PATH}?t=${sealer.seal(PURPOSE, '', [sessionId, event.key])}`;
}

/** Undefined if the token is not valid. */
export function openEventToken({ sealer }: Pick<SessionContext, 'sealer'>, token: string): EventAddress | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  const opened = sealer.open(PURPOSE, '', token);
  if (!Array.isArray(opened)) return undefined;
  const [sessionId, key] = opened as [string, string];
  return { sessionId, key };
}
