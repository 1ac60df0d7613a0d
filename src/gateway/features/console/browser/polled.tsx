// What a page shows that nobody tells it: read again and again, as long as somebody can see it.
import { useEffect, useState } from 'preact/hooks';
import { read } from './api.tsx';

export interface Polled<T> {
  readonly view: T | undefined;
  readonly problem: string | undefined;
  /** Reads it now. */
  readonly renew: () => void;
}

const EVERY_MS = 3000;

/** `name`: as the gateway names it, with a query. What it was before stays until the next is there. */
export function usePolled<T>(name: string): Polled<T> {
  const [state, setState] = useState<{ of: string; view?: T; problem?: string }>({ of: name });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      try {
        const view = document.visibilityState === 'visible' ? await read<T>(name) : undefined;
        if (isCurrent && view !== undefined) setState({ of: name, view });
      } catch (error) {
        // What was read before stays.
        if (isCurrent) setState((before) => ({ ...before, of: name, problem: (error as Error).message }));
      }
      if (isCurrent) timer = setTimeout(() => void look(), EVERY_MS);
    };
    void look();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [name, round]);
  return { view: state.view, problem: state.problem, renew: () => setRound((before) => before + 1) };
}
