// What follows from a definition that was not accepted: it is flagged, or held back.
// Claims of servers only tighten. A changed tool counts as harmless only if it claims to be read-only now, and did so in every version that was
// accepted: one that begins to claim it is held. Only tools and prompts can be held, because only they are called by their names.
import { acceptedForms, waitingForms } from './pin-record.ts';
import type { Pin } from './pin.ts';

/**
 * `flag`: it is reported, and used as it is. `hold`: neither listed nor callable until it is accepted. `destructive`: held if it may change
 * things or looks suspicious, else flagged.
 */
type PinAction = 'flag' | 'hold' | 'destructive';

export type PinOption = PinAction | 'off' | { changed?: PinAction | undefined; new?: PinAction | undefined };

const DEFAULT = 'destructive';

export interface PinPolicy {
  changed: PinAction;
  new: PinAction;
}

/** Undefined: nothing is pinned. `isPerUser`: users may see other tools than those before them, so a new one is not held by default. */
export function toPinPolicy(option: PinOption, isPerUser = false): PinPolicy | undefined {
  if (option === 'off') return undefined;
  const { changed = DEFAULT, new: fresh = DEFAULT } =
    typeof option === 'string' ? { changed: option, new: option } : option;
  return { changed, new: isPerUser && fresh === DEFAULT ? 'flag' : fresh };
}

/** One definition that waits is enough: a call does not say in which list its tool was seen. */
export function isHeld(pin: Pin, policy: PinPolicy): boolean {
  const { area } = pin;
  if (area !== 'tools' && area !== 'prompts') return false;
  const accepted = acceptedForms(pin);
  const action = accepted.length > 0 ? policy.changed : policy.new;
  return waitingForms(pin).some((form) => {
    if (action !== 'destructive') return action === 'hold';
    if (form.isSuspicious && !accepted.some(({ isSuspicious }) => isSuspicious)) return true;
    return area === 'tools' && (pin.mayChangeThings === true || !form.isReadOnly);
  });
}
