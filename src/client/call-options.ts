// Options of every call.
import type { CallOptions } from '../protocol/server-view.ts';

export type ClientCallOptions = Pick<CallOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'maxTimeoutMs' | 'trace'>;
