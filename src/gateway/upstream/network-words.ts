// Trouble of the network, for people.

/** What the network said: several addresses that all failed are told by the first. */
export function networkWords(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return networkWords(error.errors[0]);
  return error instanceof Error ? error.message || error.name : String(error);
}
