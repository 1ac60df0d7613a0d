// The methods of the stateless era: no session to open, to keep alive or to subscribe in.
import { CANCEL_TASK, DISCOVER_SERVER, GET_TASK, LISTEN_FOR_CHANGES, UPDATE_TASK } from '../../../kernel/methods.ts';
import { COMMON_METHODS } from '../methods.ts';
import type { MethodRegistry } from '../methods.ts';

/** They need the extension for tasks. */
export const STATELESS_TASK_METHODS: MethodRegistry = new Set([GET_TASK, UPDATE_TASK, CANCEL_TASK]);

export const STATELESS_METHODS: MethodRegistry = new Set([
  ...COMMON_METHODS,
  DISCOVER_SERVER,
  LISTEN_FOR_CHANGES,
  ...STATELESS_TASK_METHODS,
]);
