// Errors for a question without an answer and for an ended session. A flow body may catch them; otherwise the flow ends with them.
export type AskFailure = 'declined' | 'cancelled' | 'timeout' | 'unavailable';

const WORDS: Record<AskFailure, string> = {
  declined: 'was declined',
  cancelled: 'was cancelled',
  timeout: 'was not answered in time',
  unavailable: 'could not be asked',
};

/** The session ended early. The body may still clean up in steps with `cleanup`; every other request of it is refused. */
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
