// What is made of the answer to a call, or of its failure.
import type { ResultObject } from '../../protocol/raw/raw-object.ts';

/** It comes when the connection of the call is given back. */
export interface ResultHandler {
  read(result: ResultObject): ResultObject;
  failed(thrown: unknown): ResultObject | Promise<ResultObject>;
}

/** For what was not ended by the caller. */
export function handleResult(answer: Promise<ResultObject>, handler: ResultHandler): Promise<ResultObject> {
  return answer.then(
    (result) => handler.read(result),
    (thrown: unknown) => handler.failed(thrown),
  );
}

export const PASS_THROUGH: ResultHandler = {
  read: (result) => result,
  failed: (thrown) => Promise.reject(thrown),
};
