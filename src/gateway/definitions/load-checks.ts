// Loads the checks of lists when a server lists something for the first time: calls do not need them.
import type { JsonObject } from '../../protocol/message.ts';
import type { CheckedLists, CheckedListsOptions } from './checked-lists.ts';

/** The checks of one server. */
export interface DefinitionChecks {
  check(method: string, page: JsonObject): Promise<JsonObject>;
  /** What was found, a line for each. */
  readonly reports: readonly string[];
}

export function loadChecks(options: CheckedListsOptions): DefinitionChecks {
  let lists: CheckedLists | undefined;
  return {
    async check(method, page) {
      if (!lists) {
        const loaded = await import('./checked-lists.ts');
        lists ??= new loaded.CheckedLists(options);
      }
      return lists.check(method, page);
    },
    get reports() {
      return lists?.reports ?? [];
    },
  };
}
