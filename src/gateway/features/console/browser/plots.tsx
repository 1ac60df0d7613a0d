// The last hour as small plots: calls and errors per minute, and how long calls took. Each says in words what it shows.
import type { MinuteView } from '../views.ts';
import { toDuration } from './parts.tsx';

const MINUTES = 60;
const MINUTE_MS = 60_000;
const HEIGHT = 56;
const STEP = 5;
const WIDTH = MINUTES * STEP;

export function Plots({ minutes }: { minutes: readonly MinuteView[] }) {
  const end = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  const byAt = new Map(minutes.map((minute) => [minute.at, minute]));
  const hour = Array.from({ length: MINUTES }, (_, index) => byAt.get(end - (MINUTES - 1 - index) * MINUTE_MS));
  const sum = (of: (minute: MinuteView) => number): number => minutes.reduce((all, minute) => all + of(minute), 0);
  const [calls, errors] = [sum(({ calls }) => calls), sum(({ errors }) => errors)];
  const last = minutes.at(-1);
  return (
    <div class="plots">
      <figure class="card">
        <figcaption>
          <strong>{calls}</strong> calls in the last hour{' '}
          <span class={errors > 0 ? 'warn' : 'soft'}>{errors} failed</span>
        </figcaption>
        <Bars hour={hour} />
      </figure>
      {last && (
        <figure class="card">
          <figcaption>
            p50 <strong>{toDuration(last.p50)}</strong> p95 <strong>{toDuration(last.p95)}</strong> in the newest minute
          </figcaption>
          <Durations hour={hour} />
        </figure>
      )}
    </div>
  );
}

type Hour = readonly (MinuteView | undefined)[];

function Bars({ hour }: { hour: Hour }) {
  const most = Math.max(1, ...hour.map((minute) => minute?.calls ?? 0));
  const toHeight = (count: number): number => (count === 0 ? 0 : Math.max(2, (count / most) * HEIGHT));
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Calls per minute, at most ${most}`}
      preserveAspectRatio="none"
    >
      {hour.map(
        (minute, index) =>
          minute && (
            <g>
              <rect
                class="bar"
                x={index * STEP}
                width={STEP - 1}
                y={HEIGHT - toHeight(minute.calls)}
                height={toHeight(minute.calls)}
              />
              <rect
                class="bar bad"
                x={index * STEP}
                width={STEP - 1}
                y={HEIGHT - toHeight(minute.errors)}
                height={toHeight(minute.errors)}
              />
            </g>
          ),
      )}
    </svg>
  );
}

/** On a logarithmic scale: a slow call must not hide how the others fare. */
function Durations({ hour }: { hour: Hour }) {
  const most = Math.log2(2 + Math.max(...hour.map((minute) => minute?.p95 ?? 0)));
  const toY = (ms: number): number => HEIGHT - 3 - (Math.log2(1 + ms) / most) * (HEIGHT - 8);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label="Durations of calls per minute, from p50 to p95"
      preserveAspectRatio="none"
    >
      {hour.map(
        (minute, index) =>
          minute && (
            <g>
              <rect
                class="span"
                x={index * STEP}
                width={STEP - 1}
                y={toY(minute.p95)}
                height={Math.max(2, toY(minute.p50) - toY(minute.p95))}
              />
              <rect class="bar" x={index * STEP} width={STEP - 1} y={toY(minute.p50) - 1} height={2} />
            </g>
          ),
      )}
    </svg>
  );
}
