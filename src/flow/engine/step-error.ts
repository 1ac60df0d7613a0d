// Converts errors of steps to and from the journal. The first run gets the same error as every replay: name, message and data, without
// its class.
import { GatewayError } from '../../shared/errors.ts';
import type { StepEntry } from '../journal.ts';

type Written = NonNullable<StepEntry['e']>;

class StepError extends Error {
  readonly data: unknown;

  constructor({ name, message, data }: Written) {
    super(message);
    this.name = name;
    this.data = data;
  }
}

export function fromErrorEntry(written: Written): StepError {
  return new StepError(written);
}

export function toErrorEntry(thrown: unknown): Written {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown) };
  if (thrown instanceof GatewayError) return { name: thrown.code, message: thrown.message };
  const { name, message } = thrown;
  const data: unknown = (thrown as { data?: unknown }).data;
  return { name, message, ...(isJson(data) && { data }) };
}

function isJson(data: unknown): boolean {
  if (data === undefined) return false;
  try {
    return JSON.stringify(data) !== undefined;
  } catch {
    return false;
  }
}
