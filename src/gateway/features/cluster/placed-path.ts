// Where nodes reach a server that exists once, and what they are told there.
export function pathOfPlaced(server: string): string {
  return `/placed/${encodeURIComponent(server)}`;
}

/** The node hands the server on. */
export const LEAVING = 'leaving\n';
