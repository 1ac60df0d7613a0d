// A store, and which questions wait in it: what a page shows, and what a model is told, is found there without reading their words.
import type { Question } from '../../flow/question/question.ts';
import type { FlowStore } from '../../flow/store/store.ts';

export interface Watched {
  store: FlowStore;
  /** Those that were put last. */
  readonly questions: readonly Question[];
  /** Sessions that were made in it. */
  readonly made: number;
}

export function watchStore(inner: FlowStore): Watched {
  let questions: readonly Question[] = [];
  let made = 0;
  const see = ({ current }: { current?: unknown[] | undefined }) => {
    if (current && current.length > 0) questions = current as Question[];
  };
  const seen: Pick<FlowStore, 'create' | 'commit'> = {
    create(header, entries, limits) {
      made++;
      see(header);
      return inner.create(header, entries, limits);
    },
    commit(id, rev, change) {
      see(change.patch);
      return inner.commit(id, rev, change);
    },
  };
  const store = new Proxy(inner, {
    get(target, name) {
      if (name in seen) return seen[name as keyof typeof seen];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return {
    store,
    get questions() {
      return questions;
    },
    get made() {
      return made;
    },
  };
}
