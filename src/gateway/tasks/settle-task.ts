// Ends a task with the result or error of its call.
import type { WireError } from '../../protocol/message.ts';
import { toPlainObject } from '../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import { ProtocolError } from '../../shared/errors.ts';
import { toError } from '../../shared/to-error.ts';
import type { Task } from './task.ts';

export async function settleTask(task: Task, running: Promise<ResultObject>): Promise<void> {
  try {
    task.complete(toPlainObject(await running));
  } catch (thrown) {
    task.fail(toWireError(thrown));
  }
}

/** Clients of any dialect may fetch the error, so it is kept in neutral form. */
function toWireError(thrown: unknown): WireError {
  const error = toError(thrown);
  if (error instanceof ProtocolError) {
    return { code: error.code, message: error.message, ...(error.data !== undefined && { data: error.data }) };
  }
  const data = Object.keys(error.details).length > 0 ? { data: error.details } : {};
  return { code: error.row.code, message: error.message, ...data };
}
