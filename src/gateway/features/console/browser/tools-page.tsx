// The tools of all servers: what they cost the context of a model, how often they were called, what they say of themselves, and what has changed since a
// person accepted it.
import { useEffect, useState } from 'preact/hooks';
import type { WaitingDefinition } from '../../waiting-definition.ts';
import type { ToolRow, ToolsView } from '../views.ts';
import { act, read } from './api.tsx';
import { Name, Section } from './parts.tsx';
import { route, setQuery } from './route.tsx';
import { TryTool } from './try-tool.tsx';

export function ToolsPage() {
  const [view, setView] = useState<ToolsView | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const load = (): void =>
    void read<ToolsView>('tools').then(setView, (error: Error) => {
      setProblem(error.message);
    });
  useEffect(load, []);
  if (!view) return <h1>{problem ?? 'Tools'}</h1>;
  return (
    <>
      <h1>Tools</h1>
      {view.pins.length > 0 && <Pins pins={view.pins} onAccepted={load} />}
      <Costs tools={view.tools} />
      <AllTools tools={view.tools} />
    </>
  );
}

function Pins({ pins, onAccepted }: { pins: readonly WaitingDefinition[]; onAccepted: () => void }) {
  return (
    <Section title="Changed since you accepted it" note={String(pins.length)}>
      <div class="questions">
        {pins.map((pin) => (
          <Pin key={`${pin.server} ${pin.area} ${pin.name}`} pin={pin} onAccepted={onAccepted} />
        ))}
      </div>
    </Section>
  );
}

function Pin({ pin, onAccepted }: { pin: WaitingDefinition; onAccepted: () => void }) {
  const { server, area, name, state, digests, lines } = pin;
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const accept = async (): Promise<void> => {
    const refused = await act('accept', { server, area, name, digests });
    setProblem(refused);
    if (refused === undefined) onAccepted();
  };
  return (
    <article class="card question" aria-label={`${server} ${name}`}>
      <header>
        <h3>
          <Name>{name}</Name> <span class="soft">of {server}</span>
        </h3>
        <p class="soft">
          {area}, {state}; nobody can use it until you accept it
        </p>
      </header>
      {lines.map((parts) => (
        <p class="arguments diff" dir="auto">
          {parts.map(({ kind, text }) =>
            kind === 'added' ? <ins>{text}</ins> : kind === 'removed' ? <del>{text}</del> : text,
          )}
        </p>
      ))}
      <div class="row">
        <button class="primary" onClick={() => void accept()}>
          Accept
        </button>
      </div>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </article>
  );
}

function Costs({ tools }: { tools: readonly ToolRow[] }) {
  const servers = [...new Set(tools.map(({ server }) => server))].map((server) => {
    const own = tools.filter((tool) => tool.server === server && tool.tokens !== null);
    return { server, count: own.length, tokens: own.reduce((sum, { tokens }) => sum + tokens!, 0) };
  });
  const all = servers.reduce((sum, { tokens }) => sum + tokens, 0);
  const most = Math.max(1, ...servers.map(({ tokens }) => tokens));
  return (
    <Section title="What they cost" note={`${all.toLocaleString()} tokens in the context of every model`}>
      <ol class="waterfall card costs">
        {servers
          .toSorted((one, other) => other.tokens - one.tokens)
          .map(({ server, count, tokens }) => (
            <li>
              <span>
                {server} <span class="soft">{count}</span>
              </span>
              <span class="track" aria-hidden="true">
                <span class="server" style={{ width: `${(tokens / most) * 100}%` }} />
              </span>
              <span class="number">{tokens.toLocaleString()}</span>
            </li>
          ))}
      </ol>
      <p class="soft small">
        Estimated: a quarter of the bytes of the name, the description and the schema of the arguments. Tools that rules
        hide cost nothing.
      </p>
    </Section>
  );
}

function AllTools({ tools }: { tools: readonly ToolRow[] }) {
  const text = (route.value.query.get('find') ?? '').toLowerCase();
  const found = tools.filter(({ server, name, description }) =>
    `${server} ${name} ${description}`.toLowerCase().includes(text),
  );
  return (
    <Section title="All tools" note={String(found.length)}>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span class="unseen">Find</span>
          <input
            type="search"
            value={text}
            placeholder="Find a tool"
            onInput={({ currentTarget }) => setQuery({ find: currentTarget.value })}
          />
        </label>
      </form>
      {found.length === 0 && (
        <p class="empty">No tool is like that. Servers that have not started yet are not asked.</p>
      )}
      <ul class="tools">
        {found.map((tool) => (
          <Tool key={`${tool.server} ${tool.name}`} tool={tool} />
        ))}
      </ul>
    </Section>
  );
}

function Tool({ tool }: { tool: ToolRow }) {
  const { server, name, tokens, calls, state, isReadOnly, isDestructive, description, schema } = tool;
  const marks = [
    ...(state === 'hidden' ? ['hidden by rules'] : state === 'held' ? ['held back'] : []),
    ...(isDestructive ? ['may destroy'] : []),
  ];
  return (
    <li>
      <details class="card">
        <summary>
          <Name>{name}</Name>
          <span class="soft">{server}</span>
          <span class="marks">
            {isReadOnly && <span class="soft">only reads{marks.length > 0 && ', '}</span>}
            {marks.join(', ')}
          </span>
          <span class="number">{calls === 0 ? '' : `${calls} ${calls === 1 ? 'call' : 'calls'}`}</span>
          <span class="number">{tokens === null ? '–' : `${tokens} tokens`}</span>
        </summary>
        <p class="text" dir="auto">
          {description === '' ? 'It has no description.' : description}
        </p>
        <pre class="body" tabIndex={0}>
          {schema}
        </pre>
        <TryTool tool={tool} />
      </details>
    </li>
  );
}
