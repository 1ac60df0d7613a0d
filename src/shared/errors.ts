// The two kinds of error. GatewayError carries a code of the table: which number and words a peer is told is decided by its
// dialect. ProtocolError carries a number as it came from, or must go to, a peer; it passes unchanged.
import { ERRORS } from './error-table.ts';
import type { ErrorCode, ErrorRow } from './error-table.ts';

export class GatewayError extends Error {
  readonly code: ErrorCode;
  /** Fills the message; dialects build `error.data` from it. Never holds a secret. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, details: Record<string, unknown> = {}, options?: ErrorOptions) {
    super(fill(ERRORS[code].message, details), options);
    this.name = 'GatewayError';
    this.code = code;
    this.details = details;
  }

  get row(): ErrorRow {
    return ERRORS[this.code];
  }

  /** How long a server that was too busy asks to be left alone. */
  get retryAfterMs(): number | undefined {
    return spanIn(this.details);
  }
}

export class ProtocolError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'ProtocolError';
    this.code = code;
    this.data = data;
  }

  get retryAfterMs(): number | undefined {
    return spanIn(this.data);
  }
}

function spanIn(holder: unknown): number | undefined {
  const ms = (holder as { retryAfterMs?: unknown } | null | undefined)?.retryAfterMs;
  return typeof ms === 'number' && ms >= 0 && Number.isFinite(ms) ? ms : undefined;
}

function fill(template: string, details: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? name));
}
