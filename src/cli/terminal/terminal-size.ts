// A terminal that was given no size says that it has 0 columns, as in a container or under a program that opened it. Taken at its word,
// it would be given one character per line.
interface Sized {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

const COLUMNS = 80;
const ROWS = 24;

/** For this program and the libraries that it prints with. What the terminal says later counts. */
export function assumeSize(stream: Sized): void {
  if (!stream.isTTY) return;
  stream.columns ||= COLUMNS;
  stream.rows ||= ROWS;
}
