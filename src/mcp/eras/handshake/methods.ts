// The methods of the handshake era. Tasks came with its newest revision.
import {
  CANCEL_TASK,
  GET_TASK,
  GET_TASK_RESULT,
  INITIALIZE,
  LIST_TASKS,
  PING_PEER,
  SET_LOG_LEVEL,
  SUBSCRIBE_RESOURCE,
  UNSUBSCRIBE_RESOURCE,
} from '../../../kernel/methods.ts';
import { COMMON_METHODS } from '../methods.ts';
import type { MethodRegistry } from '../methods.ts';

export const HANDSHAKE_METHODS: MethodRegistry = new Set([
  ...COMMON_METHODS,
  INITIALIZE,
  PING_PEER,
  SET_LOG_LEVEL,
  SUBSCRIBE_RESOURCE,
  UNSUBSCRIBE_RESOURCE,
]);

export const HANDSHAKE_METHODS_WITH_TASKS: MethodRegistry = new Set([
  ...HANDSHAKE_METHODS,
  GET_TASK,
  GET_TASK_RESULT,
  LIST_TASKS,
  CANCEL_TASK,
]);
