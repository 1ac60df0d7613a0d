// A store that remembers the open questions, so that tests need not read them from a page or a text.
import type { Question } from '../../flow/question/question.ts';
import { callerQuestions } from '../../flow/header.ts';
import type { FlowStore } from '../../flow/store/store.ts';

export interface WatchedStore {
  store: FlowStore;
  /** The last questions to the caller. */
  readonly questions: readonly Question[];
  /** Number of sessions created. */
  readonly made: number;
}

/** `onWritten` is called with the id of a session after it is written. */
export function watchStore(inner: FlowStore, onWritten: (id: string) => void): WatchedStore {
  let questions: readonly Question[] = [];
  let made = 0;
  const see = ({ current }: { current?: unknown[] | undefined }) => {
    const own = current ? callerQuestions({ current }) : [];
    if (own.length > 0) questions = own;
  };
  const seen: Pick<FlowStore, 'create' | 'commit'> = {
    async create(header, entries, limits) {
      made++;
      see(header);
      const created = await inner.create(header, entries, limits);
      onWritten(header.id);
      return created;
    },
    async commit(id, rev, change) {
      see(change.patch);
      const committed = await inner.commit(id, rev, change);
      onWritten(id);
      return committed;
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
