// All calls that the gateway remembers, live: a table of which only the rows in sight are made, and plots of the last hour.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallRow } from '../views.ts';
import { CallDetail } from './call-detail.tsx';
import { countOfAll, filter, loadCalls, loadProblem, minutes, shownCalls } from './calls.tsx';
import { Name, Outcome, toDuration, toTime } from './parts.tsx';
import { isNarrow } from './screen.tsx';
import { Plots } from './plots.tsx';
import { route, setQuery, toHref } from './route.tsx';

/** As in the stylesheet: on a narrow screen a call takes two lines. */
const ROW_PX = { wide: 38, narrow: 62 };
const MORE_ROWS = 8;
const COLUMNS = ['Time', 'What', 'Server', 'Client', 'Outcome', 'Took'];
const SLOW = [
  { ms: 0, label: 'Any duration' },
  { ms: 500, label: 'From 500 ms' },
  { ms: 2000, label: 'From 2 s' },
  { ms: 10_000, label: 'From 10 s' },
];

export function CallsPage() {
  useEffect(() => void loadCalls(), []);
  const open = route.value.query.get('call');
  if (open !== null) return <CallDetail id={open} />;
  return (
    <>
      <h1>Calls</h1>
      {minutes.value.length > 0 && <Plots minutes={minutes.value} />}
      <Filters />
      {loadProblem.value !== undefined && (
        <p class="problem" role="alert">
          {loadProblem.value}
        </p>
      )}
      <CallTable calls={shownCalls.value} />
    </>
  );
}

function Filters() {
  const { text, only, slowMs } = filter.value;
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span class="unseen">Find</span>
        <input
          type="search"
          value={text}
          placeholder="Find a tool, server, client or user"
          onInput={({ currentTarget }) => setQuery({ find: currentTarget.value })}
        />
      </label>
      <label>
        <span class="unseen">Outcome</span>
        <select value={only} onChange={({ currentTarget }) => setQuery({ only: currentTarget.value })}>
          <option value="">Every outcome</option>
          <option value="failed">Failed or refused</option>
          <option value="running">Running</option>
        </select>
      </label>
      <label>
        <span class="unseen">Duration</span>
        <select value={String(slowMs || '')} onChange={({ currentTarget }) => setQuery({ slow: currentTarget.value })}>
          {SLOW.map(({ ms, label }) => (
            <option value={ms === 0 ? '' : String(ms)}>{label}</option>
          ))}
        </select>
      </label>
      <p class="soft" role="status">
        {shownCalls.value.length === countOfAll.value
          ? `${countOfAll.value} calls`
          : `${shownCalls.value.length} of ${countOfAll.value} calls`}
      </p>
    </form>
  );
}

function CallTable({ calls }: { calls: readonly CallRow[] }) {
  if (countOfAll.value === 0)
    return <p class="empty">No call yet. As soon as a client calls a tool, it appears here.</p>;
  return calls.length === 0 ? <p class="empty">No call is like that.</p> : <Rows calls={calls} />;
}

/** Rows have one height, so that those out of sight need not exist. */
function Rows({ calls }: { calls: readonly CallRow[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const current = box.current!;
    const look = (): void => setSight({ top: current.scrollTop, height: current.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(current);
    current.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      current.removeEventListener('scroll', look);
    };
  }, []);
  const rowPx = isNarrow.value ? ROW_PX.narrow : ROW_PX.wide;
  const first = Math.max(0, Math.floor(sight.top / rowPx) - MORE_ROWS);
  const last = Math.min(calls.length, Math.ceil((sight.top + sight.height) / rowPx) + MORE_ROWS);
  return (
    <div class="table tall" ref={box} tabIndex={0} role="region" aria-label="Calls" onKeyDown={moveByKey}>
      {/* The roles stay where a stylesheet takes them away: on a narrow screen a row is no row of a table. */}
      <table role="table" class="calls" aria-rowcount={calls.length + 1}>
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={1}>
            {COLUMNS.map((name) => (
              <th role="columnheader" scope="col" class={name === 'Took' ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {first > 0 && <Gap px={first * rowPx} />}
          {calls.slice(first, last).map((call, index) => (
            <Row key={call.id} call={call} index={first + index} />
          ))}
          {last < calls.length && <Gap px={(calls.length - last) * rowPx} />}
        </tbody>
      </table>
    </div>
  );
}

function Gap({ px }: { px: number }) {
  return (
    <tr class="gap" aria-hidden="true">
      <td colSpan={6} style={{ height: `${px}px` }} />
    </tr>
  );
}

function Row({ call, index }: { call: CallRow; index: number }) {
  const { id, at, name, method, server, client, outcome, tone, ms, asked } = call;
  const query = Object.fromEntries(route.value.query);
  return (
    <tr role="row" aria-rowindex={index + 2}>
      <td role="cell" class="time">
        <time dateTime={new Date(at).toISOString()}>{toTime(at)}</time>
      </td>
      <th role="rowheader" scope="row">
        <a href={toHref('calls', { ...query, call: id })} data-row={index}>
          <Name>{name ?? method}</Name>
        </a>
        {asked > 0 && <span class="soft"> asked {asked === 1 ? 'once' : `${asked} times`}</span>}
      </th>
      <td role="cell">{server ?? '–'}</td>
      <td role="cell">
        <Name>{client}</Name>
      </td>
      <td role="cell" class="outcome">
        <Outcome outcome={outcome} tone={tone} />
      </td>
      <td role="cell" class="number">
        {ms === null ? '…' : toDuration(ms)}
      </td>
    </tr>
  );
}

/** Up and down lead from row to row. */
function moveByKey(event: KeyboardEvent): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const link = (event.target as HTMLElement).closest('a[data-row]');
  if (step === 0 || !link) return;
  const next = Number(link.getAttribute('data-row')) + step;
  const found = (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`a[data-row="${next}"]`);
  if (!found) return;
  event.preventDefault();
  found.focus();
}
