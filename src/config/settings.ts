// Defaults and choices that the configuration file and the command line share. Imports nothing: every command loads this file.
export const DEFAULT_PORT = 8470;
export const DEFAULT_HOST = '127.0.0.1';
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export const SHARING = ['auto', 'session', 'all'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];
