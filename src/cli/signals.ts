// The signals that ask for the end. The first one ends a command in good order; a second one ends it at once, yet by an exit
// of our own, which takes the server processes along: a process that dies of a signal leaves them behind.
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const INTERRUPTED = 130;

let asked = 0;
let hurry: (status: number) => void;

/** Resolves when the end was asked for twice. */
export const secondSignal: Promise<number> = new Promise((resolve) => (hurry = resolve));

let first: Promise<number> | undefined;

/** Resolves with the exit status 0 when the end is asked for. */
export function untilSignal(): Promise<number> {
  return (first ??= new Promise((resolve) => {
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        resolve(0);
        if (++asked > 1) hurry(INTERRUPTED);
      });
    }
  }));
}
