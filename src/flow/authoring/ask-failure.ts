// A question that got no answer. The body may catch it; a flow that does not ends with it.
export type AskFailure = 'declined' | 'cancelled' | 'timeout' | 'unavailable';

const WORDS: Record<AskFailure, string> = {
  declined: 'was declined',
  cancelled: 'was called off',
  timeout: 'was not answered in time',
  unavailable: 'could not be put to anybody',
};

export class AskError extends Error {
  readonly reason: AskFailure;
  readonly key: string;

  constructor(key: string, reason: AskFailure) {
    super(`The question ${key} ${WORDS[reason]}`);
    this.name = 'AskError';
    this.key = key;
    this.reason = reason;
  }
}
