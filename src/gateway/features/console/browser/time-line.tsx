// Where time went: spans below each other, on one scale.
import { toDuration } from './parts.tsx';

export interface Span {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  /** A class of the stylesheet: `whole`, `wait`, `server`. */
  readonly tone: string;
}

/** The scale begins with the earliest span. */
export function TimeLine({ title, spans }: { title: string; spans: readonly Span[] }) {
  const begin = Math.min(...spans.map(({ from }) => from));
  const whole = Math.max(1, ...spans.map(({ to }) => to - begin));
  return (
    <section>
      <h2>{title}</h2>
      <ol class="waterfall card">
        {spans.map(({ label, from, to, tone }) => (
          <li>
            <span>{label}</span>
            <span class="track" aria-hidden="true">
              <span
                class={tone}
                style={{
                  marginInlineStart: `${Math.min(99.5, ((from - begin) / whole) * 100)}%`,
                  width: `${Math.max(0.5, ((to - from) / whole) * 100)}%`,
                }}
              />
            </span>
            <span class="number">{toDuration(to - from)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
