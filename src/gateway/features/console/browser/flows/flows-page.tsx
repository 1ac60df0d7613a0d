// The sessions of interactive tools: those in the store of the flows, for the operator, and those that pass through this gateway.
import type { FlowRow, FlowsView } from '../../../../../kernel/flow/flow-views.ts';
import { now } from '../api.tsx';
import { Ago, Name, Problem, Section } from '../parts.tsx';
import { usePolled } from '../polled.tsx';
import { route, setQuery, toHref } from '../route.tsx';
import { FlowDetail } from './flow-detail.tsx';

export function FlowsPage() {
  const open = route.value.query.get('session');
  return open === null ? <FlowList /> : <FlowDetail key={open} id={open} />;
}

function FlowList() {
  const { query } = route.value;
  const [state, text] = [query.get('state') ?? 'open', (query.get('find') ?? '').toLowerCase()];
  const { view, problem } = usePolled<FlowsView>(`flows?state=${encodeURIComponent(state)}`);
  const isWanted = (row: FlowRow): boolean =>
    [row.tool, row.id, row.state, row.about, row.who, row.client].join(' ').toLowerCase().includes(text);
  const stored = (view?.store?.rows ?? []).filter(isWanted);
  const passing = (view?.passing ?? []).filter(isWanted);
  const hasStore = view?.store?.state === 'read';
  return (
    <>
      <h1>Flows</h1>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span class="unseen">Find</span>
          <input
            type="search"
            value={text}
            placeholder="Find a tool, a question or a session"
            onInput={({ currentTarget }) => setQuery({ find: currentTarget.value })}
          />
        </label>
        <label>
          <span class="unseen">State</span>
          <select value={state} onChange={({ currentTarget }) => setQuery({ state: currentTarget.value })}>
            <option value="open">Open</option>
            <option value="ended">Ended</option>
            <option value="all">All</option>
          </select>
        </label>
        <p class="soft" role="status">
          {view && countWords(stored.length + passing.length)}
        </p>
      </form>
      <Problem text={problem ?? view?.store?.problem ?? undefined} />
      {hasStore && (
        <Section title="In the store" note={ofAll(stored.length, view.store!.fitting)}>
          <Rows title="Sessions in the store" rows={stored} />
        </Section>
      )}
      {view && (!hasStore || passing.length > 0) && (
        <Section title="Through this gateway" note={String(passing.length)}>
          <Rows title="Sessions that pass through" rows={passing} />
        </Section>
      )}
      {view && <Scope view={view} />}
    </>
  );
}

function countWords(count: number): string {
  return `${count} ${count === 1 ? 'session' : 'sessions'}`;
}

function ofAll(shown: number, fitting: number): string {
  return shown < fitting ? `${shown} of ${fitting}` : String(shown);
}

function Rows({ title, rows }: { title: string; rows: readonly FlowRow[] }) {
  if (rows.length === 0) return <p class="empty">No session is like that.</p>;
  return (
    <div class="table" tabIndex={0} role="region" aria-label={title}>
      {/* The roles stay where a stylesheet takes them away, as in the table of calls. */}
      <table role="table" class="flows">
        <thead role="rowgroup">
          <tr role="row">
            {['Tool', 'State', 'Waits for', 'Whose', 'Began', 'Active'].map((name) => (
              <th role="columnheader" scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <Row key={row.id} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row }: { row: FlowRow }) {
  const { id, tool, state, tone, about, who, client, at, last } = row;
  return (
    <tr role="row">
      <th role="rowheader" scope="row">
        <a href={toHref('flows', { ...Object.fromEntries(route.value.query), session: id })}>
          <Name>{tool || 'A tool'}</Name>
        </a>
        <span class="soft id"> {id}</span>
      </th>
      <td role="cell">
        <span class={`state ${tone}`}>{state}</span>
      </td>
      <td role="cell" class="about">
        <bdi>{about}</bdi>
      </td>
      <td role="cell" class="who">
        {client === null ? who : <Name>{client}</Name>}
      </td>
      <td role="cell">
        <Ago at={at} />
      </td>
      <td role="cell">
        <Ago at={last} />
      </td>
    </tr>
  );
}

/** What is here, and what cannot be. */
function Scope({ view: { store } }: { view: FlowsView }) {
  const isOperator = now.value!.viewer.isOperator;
  return (
    <p class="soft small">
      {store?.state === 'read' &&
        'The store is that of the configuration (“flows”). A session in it that a client plays with MCP Flow also passes through this gateway. '}
      {store?.isCut && `The store has more than ${store.all} sessions; the others were not looked at. `}
      {store?.state === 'none' && (
        <>
          Only what passes through this gateway by MCP Flow, since it started. To see every session with its journal,
          and to answer, cancel and retry, name the store of your flows in the configuration:{' '}
          <code>"flows": {'{ "store": "sqlite:flows.db" }'}</code>. Sessions in the memory of a server, or in tokens,
          cannot be seen from outside.{' '}
        </>
      )}
      {!isOperator && 'Your sessions of MCP Flow that pass through this gateway. '}
      Tools that other clients call ask on the page <a href={toHref('now')}>Now</a>, and are found among the{' '}
      <a href={toHref('calls')}>calls</a>.
    </p>
  );
}
