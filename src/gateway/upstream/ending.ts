// What is made of the answer to a call, or of its failure.
import type { ResultObject } from '../../protocol/raw/raw-object.ts';

/** It comes when the connection of the call is given back. */
export interface Ending {
  read(result: ResultObject): ResultObject;
  failed(thrown: unknown): ResultObject | Promise<ResultObject>;
}

/** For what was not ended by the caller. */
export function ended(answer: Promise<ResultObject>, ending: Ending): Promise<ResultObject> {
  return answer.then(
    (result) => ending.read(result),
    (thrown: unknown) => ending.failed(thrown),
  );
}

export const PLAIN: Ending = {
  read: (result) => result,
  failed: (thrown) => Promise.reject(thrown),
};
