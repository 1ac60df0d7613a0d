// How a command prints. src/cli/terminal/print.ts makes one.
export type Style = 'bold' | 'dim' | 'cyan' | 'yellow' | 'green' | 'red';

export interface Printer {
  /** Whether lines go to a terminal. A token is printed nowhere else: what is not a terminal may be a log that others read. */
  readonly isTerminal?: boolean | undefined;
  /** A line of the result, on stdout. */
  line(text?: string): void;
  /** Raw content on stdout. On a terminal, escape sequences are removed and bytes are not shown. */
  content(data: string | Uint8Array): void;
  /** Additional information, on stderr. */
  note(text: string): void;
  /** A note about something doubtful. */
  warning(text: string): void;
  /** What this program has done on its own, prefixed with its name. */
  news(text: string): void;
  problem(text: string): void;
  /** The text in this style, if colours are on; only the methods above can print it. */
  style(style: Style, text: string): string;
  /** Resolves when all output has left the process, or can no longer leave it. */
  flush(): Promise<void>;
}
