// A time span: a number of milliseconds, or `300ms`, `30s`, `5m`, `1h`, `2d`.
import { GatewayError } from '../../kernel/base/errors.ts';

export type Span = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function toMs(span: Span, option = 'span'): number {
  if (typeof span === 'number' && Number.isFinite(span) && span >= 0) return span;
  const [, count, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(span)) ?? [];
  if (count === undefined || unit === undefined) {
    throw new GatewayError('BAD_OPTION', {
      option,
      reason: `${String(span)} is not a span; write 300ms, 30s, 5m or 1h`,
    });
  }
  return Number(count) * (UNITS[unit] as number);
}

/** As an author would write it: `2d`, `90s`. */
export function toSpanText(ms: number): string {
  const unit =
    ['d', 'h', 'm', 's'].find((one) => ms >= (UNITS[one] as number) && ms % (UNITS[one] as number) === 0) ?? 'ms';
  return `${ms / UNITS[unit]!}${unit}`;
}
