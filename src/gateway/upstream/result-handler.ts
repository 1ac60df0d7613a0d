// Handles the result or the failure of a call at the moment its connection is released, without another promise.
import type { ResultObject } from '../../protocol/raw/raw-object.ts';

export interface ResultHandler {
  read(result: ResultObject): ResultObject;
  failed(thrown: unknown): ResultObject | Promise<ResultObject>;
}

/** Applies a handler to an answer whose sender did not. */
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
