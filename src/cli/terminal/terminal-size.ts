// A terminal without a size, as in a container, reports 0 columns, which would break every line after one character.
interface Sized {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

const COLUMNS = 80;
const ROWS = 24;

/** For this program and the libraries it prints with. A later resize still counts. */
export function assumeSize(stream: Sized): void {
  if (!stream.isTTY) return;
  stream.columns ||= COLUMNS;
  stream.rows ||= ROWS;
}
