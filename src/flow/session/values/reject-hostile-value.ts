// Rejects hostile values: too large, too deep, or with names that reach into prototypes. They do not count as attempts to answer.
import { GatewayError } from '../../../shared/errors.ts';
import type { FlowLimits } from '../flow-limits.ts';

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

export function rejectHostileValue(value: unknown, sessionId: string, limits: FlowLimits): void {
  const reason = toReason(value, limits);
  if (reason !== undefined) throw new GatewayError('FLOW_VALIDATION_FAILED', { sessionId, reason });
}

function toReason(value: unknown, limits: FlowLimits): string | undefined {
  if (typeof value === 'string') return value.length > limits.answerBytes ? tooLarge(limits.answerBytes) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const budget = { left: isFileLike(value) ? Math.ceil(limits.fileBytes * 1.4) : limits.answerBytes };
  const most = budget.left;
  return walk(value, limits.depth, budget) ?? (budget.left < 0 ? tooLarge(most) : undefined);
}

function walk(value: unknown, depth: number, budget: { left: number }): string | undefined {
  budget.left -= typeof value === 'string' ? value.length + 2 : 4;
  if (typeof value !== 'object' || value === null || budget.left < 0) return undefined;
  if (depth === 0) return 'nested too deep';
  for (const [key, inner] of Object.entries(value)) {
    if (FORBIDDEN.has(key)) return `a field must not be called ${key}`;
    budget.left -= key.length;
    const reason = walk(inner, depth - 1, budget);
    if (reason !== undefined || budget.left < 0) return reason;
  }
  return undefined;
}

function isFileLike(value: object): boolean {
  return typeof (value as { data?: unknown }).data === 'string' && 'mimeType' in value;
}

function tooLarge(bytes: number): string {
  return `larger than ${bytes} bytes`;
}
