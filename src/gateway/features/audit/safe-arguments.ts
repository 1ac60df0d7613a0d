// `auditArguments` of an embedding program: arguments that cannot be shown are left out of their line, which is written all the same.
import { toReadable } from '../../../kernel/base/errors.ts';
import { atOnce } from '../../../kernel/base/stray-promises.ts';
import type { Log } from '../../../kernel/base/log.ts';

const UNREADABLE = '[unreadable]';

/** A sink writes JSON: what has none would cost the line. */
export function toSafeArguments(show: (given: unknown) => unknown, log: Log): (given: unknown) => unknown {
  return (given) => {
    try {
      const shown = atOnce('auditArguments', show(given));
      JSON.stringify(shown);
      return shown;
    } catch (thrown) {
      log.error({ callback: 'auditArguments', error: toReadable(thrown) }, 'callback.failed');
      return UNREADABLE;
    }
  };
}
