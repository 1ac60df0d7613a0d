// Options of every call.
import type { CallOptions } from '../protocol/server-view.ts';

export type ClientCallOptions = Pick<CallOptions, 'onProgress' | 'timeoutMs' | 'maxTimeoutMs' | 'trace'> & {
  signal?: AbortSignal | undefined;
};
