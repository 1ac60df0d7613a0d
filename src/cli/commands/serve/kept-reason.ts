// Keeps what a command says, so that a client on stdin can be told why there is nothing to serve. Small, as every start loads it.
import type { Printer } from '../../../kernel/command/printer.ts';

/** A printer that also keeps what it says, but for what a file would do: a client need not know that. */
export interface ReasonPrinter extends Printer {
  readonly reason: string;
}

const MAX_REASON = 2000;

export function keepReason(print: Printer): ReasonPrinter {
  const said: string[] = [];
  const keep = (text: string): void => {
    if (!text.startsWith('  ')) said.push(text);
  };
  return {
    ...print,
    note: (text) => (keep(text), print.note(text)),
    problem: (text) => (keep(text), print.problem(text)),
    get reason() {
      return said.join('\n').slice(0, MAX_REASON);
    },
  };
}
