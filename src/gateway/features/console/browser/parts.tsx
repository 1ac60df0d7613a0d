// Small parts that several pages show.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { CallRow } from '../views.ts';

/** The time, for spans that are shown; every second while somebody can see it. */
const clock = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') clock.value = Date.now();
}, 1000);

export function Ago({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
      {toSpan(Math.max(0, clock.value - at))} ago
    </time>
  );
}

export function Until({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
      {toSpan(Math.max(0, at - clock.value))}
    </time>
  );
}

export function toSpan(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

const STATES: Record<string, { tone: string; word: string }> = {
  ready: { tone: 'good', word: 'ready' },
  starting: { tone: 'busy', word: 'starting' },
  failing: { tone: 'bad', word: 'failing' },
  idle: { tone: 'calm', word: 'idle' },
};

/** The word says it; the colour only helps. */
export function State({ state }: { state: string }) {
  const { tone, word } = STATES[state] ?? { tone: 'calm', word: state };
  return <span class={`state ${tone}`}>{word}</span>;
}

/** What went wrong, where something did. */
export function Problem({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

/** A name that a server or a client has chosen. */
export function Name({ children }: { children: ComponentChildren }) {
  return <bdi class="name">{children}</bdi>;
}

export function Section({ title, note, children }: { title: string; note?: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>
        {title}
        {note !== undefined && <span class="soft"> {note}</span>}
      </h2>
      {children}
    </section>
  );
}

export function Outcome({ outcome, tone }: Pick<CallRow, 'outcome' | 'tone'>) {
  return <span class={`state ${tone}`}>{outcome === null ? 'running' : toWords(outcome)}</span>;
}

function toWords(outcome: string): string {
  return outcome === outcome.toUpperCase() ? outcome : outcome.replaceAll('_', ' ');
}

export function toTime(at: number): string {
  return new Date(at).toLocaleTimeString(undefined, { hour12: false });
}

export function toDuration(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : toSpan(ms);
}
