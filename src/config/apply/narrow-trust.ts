// Whose forms may answer for a person when the user's own rules apply to somebody else's file: the user's own `approve` is answered only by clients that the user
// trusts. The file may name fewer, never more.
import type { AskConfig, ParleyConfig } from '../config.ts';

type Trust = NonNullable<AskConfig['trust']>;

/** What holds without `ask.trust`. */
const DEFAULT_TRUST: Trust = ['stdio'];

/** `own`: `ask.trust` of the user's own configuration. */
export function narrowTrust(config: ParleyConfig, own: Trust = DEFAULT_TRUST): AskConfig | undefined {
  const { ask } = config;
  const wanted = ask?.trust ?? DEFAULT_TRUST;
  const trust = narrowed(wanted, own, bringsNames(config));
  if (trust === wanted || (ask?.trust === undefined && isSame(trust, DEFAULT_TRUST))) return ask;
  return { ...(ask ?? { channels: ['page', 'relay'] }), trust };
}

/** The names of keys and users mean nothing if the file itself says who has them. */
function narrowed(wanted: Trust, own: Trust, isNamedByFile: boolean): Trust {
  if (own === 'all') return wanted;
  const allowed = isNamedByFile ? own.filter((one) => one === 'stdio') : own;
  return wanted === 'all' ? allowed : wanted.filter((one) => allowed.includes(one));
}

function bringsNames({ auth }: ParleyConfig): boolean {
  return [auth?.keys, auth?.keyFile, auth?.issuers, auth?.front].some((one) => one !== undefined);
}

function isSame(one: Trust, other: Trust): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
