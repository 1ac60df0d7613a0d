// Handles the signals that end a command. The first one ends it in order; the second one exits at once, which still ends the server
// processes. A process killed by a signal would leave them behind.
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const INTERRUPTED = 130;

let asked = 0;
let hurry: (status: number) => void;

/** Resolves at the second signal. */
export const secondSignal: Promise<number> = new Promise((resolve) => (hurry = resolve));

let first: Promise<number> | undefined;
let name: NodeJS.Signals | undefined;

/** Whether the first signal was SIGTERM, with which service managers and orchestrators stop a process. Other signals come from a terminal. */
export function isTerminated(): boolean {
  return name === 'SIGTERM';
}

/** Resolves with exit status 0 at the first signal. */
export function untilSignal(): Promise<number> {
  return (first ??= new Promise((resolve) => {
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        name ??= signal;
        resolve(0);
        if (++asked > 1) hurry(INTERRUPTED);
      });
    }
  }));
}
