// A question that got no answer. The body may catch it; a flow that does not ends with it.
export type AskFailure = 'declined' | 'cancelled' | 'timeout' | 'unavailable';

const WORDS: Record<AskFailure, string> = {
  declined: 'was declined',
  cancelled: 'was called off',
  timeout: 'was not answered in time',
  unavailable: 'could not be put to anybody',
};

/** The session has ended before its time. A body may clean up, in steps with `cleanup`; everything else it asks for is refused. */
export class SessionEndedError extends Error {
  /** `cancelled`, `expired`, `failed`, … */
  readonly reason: string;

  constructor(reason: string) {
    super(`The session has ended: ${reason}`);
    this.name = 'SessionEndedError';
    this.reason = reason;
  }
}

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
