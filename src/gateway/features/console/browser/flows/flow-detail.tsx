// One session of an interactive tool: what it waits for, its journal, and where its time went.
import { useState } from 'preact/hooks';
import type { FlowEntry, FlowView } from '../../../../../kernel/flow/flow-views.ts';
import { act } from '../api.tsx';
import { Ago, Name, Problem, Section, Until } from '../parts.tsx';
import { usePolled } from '../polled.tsx';
import { route, toHref } from '../route.tsx';
import { TimeLine } from '../time-line.tsx';
import type { Span } from '../time-line.tsx';
import { FlowAnswer } from './flow-answer.tsx';

export function FlowDetail({ id }: { id: string }) {
  const { view, problem, renew } = usePolled<FlowView>(`flow?id=${encodeURIComponent(id)}`);
  const { session: _, ...query } = Object.fromEntries(route.value.query);
  return (
    <>
      <p class="back">
        <a href={toHref('flows', query)}>← All sessions</a>
      </p>
      {view ? <Flow view={view} onAsked={renew} /> : <h1>{problem ?? 'Loading …'}</h1>}
      {view && <Problem text={problem} />}
    </>
  );
}

interface FlowProps {
  view: FlowView;
  /** Something was asked of the session. */
  onAsked: () => void;
}

function Flow({ view, onAsked }: FlowProps) {
  const { row, handed, entries, cut } = view;
  return (
    <>
      <h1>
        <Name>{row.tool || 'A tool'}</Name>
      </h1>
      <Facts view={view} />
      {handed !== null && (
        <p class="card text" role="status">
          {handed}
        </p>
      )}
      <Waiting view={view} onAsked={onAsked} />
      <Actions view={view} onAsked={onAsked} />
      {entries.length > 1 && <TimeLine title="Where the time went" spans={toSpans(view)} />}
      <Section title="Journal" note={cut > 0 ? `without the oldest ${cut} entries` : ''}>
        <Journal entries={entries} />
      </Section>
    </>
  );
}

function Facts({ view: { row, facts } }: { view: FlowView }) {
  return (
    <dl class="facts">
      <Fact name="State">
        <span class={`state ${row.tone}`}>{row.state}</span>
      </Fact>
      <Fact name="Whose">{row.who}</Fact>
      {row.client !== null && (
        <Fact name="Client">
          <Name>{row.client}</Name>
        </Fact>
      )}
      <Fact name="Began">
        <Ago at={row.at} />
      </Fact>
      <Fact name="Active">
        <Ago at={row.last} />
      </Fact>
      {facts.map(([name, text]) => (
        <Fact name={name}>
          <bdi>{text}</bdi>
        </Fact>
      ))}
    </dl>
  );
}

function Waiting({ view: { row, questions, waits, handed }, onAsked }: FlowProps) {
  return (
    <div class="questions waiting">
      {questions.map((question) => (
        <FlowAnswer
          key={question.promptId}
          id={row.id}
          question={question}
          isHanded={handed !== null}
          onAsked={onAsked}
        />
      ))}
      {waits.map(({ key, kind, until }) => (
        <p class="card">
          Waits for the {kind} <Name>{key}</Name>
          {until !== null && (
            <>
              , at most <Until at={until} />
            </>
          )}
        </p>
      ))}
      {!row.isStored && row.state === 'waiting' && (
        <p class="card text">It asks “{row.about}”. Only its client can answer.</p>
      )}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const ACTIONS = {
  retry: { label: 'Try again', sure: undefined },
  cancel: { label: 'Cancel the session', sure: 'It ends, and what it did is undone, as far as its tool can.' },
} as const;

function Actions({ view: { row, actions }, onAsked }: FlowProps) {
  const [asked, setAsked] = useState<'cancel' | 'retry' | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const begin = async (action: 'cancel' | 'retry'): Promise<void> => {
    setAsked(undefined);
    setProblem(await act('flow-request', { do: action, id: row.id }));
    onAsked();
  };
  if (actions.length === 0) return null;
  const sure = asked && ACTIONS[asked].sure;
  return (
    <section aria-label="What you can do">
      <div class="row">
        {asked === undefined ? (
          actions.map((action) => (
            <button onClick={() => (ACTIONS[action].sure === undefined ? void begin(action) : setAsked(action))}>
              {ACTIONS[action].label}
            </button>
          ))
        ) : (
          <>
            <p>{sure}</p>
            <button class="danger" ref={focusOnce} onClick={() => void begin(asked)}>
              Yes, {ACTIONS[asked].label.toLowerCase()}
            </button>
            <button onClick={() => setAsked(undefined)}>Keep it</button>
          </>
        )}
      </div>
      <Problem text={problem} />
    </section>
  );
}

/** The button that was pressed is gone, and the focus would be, too. */
function focusOnce(button: HTMLButtonElement | null): void {
  button?.focus();
}

function Journal({ entries }: { entries: readonly FlowEntry[] }) {
  if (entries.length === 0) return <p class="empty">Nothing is kept.</p>;
  return (
    <ol class="journal card" tabIndex={0} aria-label="Entries of the journal">
      {entries.map(({ at, what, key, text }) => (
        <li>
          <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
            {toMoment(at)}
          </time>
          <span class={`what ${what}`}>{what}</span>
          <span class="key">
            <Name>{key}</Name>
          </span>
          <span class="text" dir="auto">
            {text}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** With the date where it is not of today. */
function toMoment(at: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString(undefined, { hour12: false });
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString()} ${time}`;
}

/** What ended something, by the word for it; other entries take no time. */
const SPANS: Readonly<Record<string, string>> = {
  answer: 'wait',
  event: 'wait',
  done: 'server',
  failed: 'server',
};
const MAX_SPANS = 40;

/** Where it waited for an answer or an event, and where it worked. */
function toSpans({ row, entries, questions, waits }: FlowView): readonly Span[] {
  const spans: Span[] = [];
  const begun = new Map<string, number>();
  let before = entries[0]!.at;
  for (const { at, what, key, text } of entries) {
    if (what === 'begin') begun.set(key, at);
    const tone = SPANS[what];
    if (tone !== undefined) spans.push({ label: key || text || what, from: begun.get(key) ?? before, to: at, tone });
    before = at;
  }
  const open = [...questions, ...waits].map(({ key }) => key);
  for (const key of open) spans.push({ label: `${key} (open)`, from: before, to: Date.now(), tone: 'wait' });
  const whole = {
    label: 'The session',
    from: row.at,
    to: Math.max(row.last, ...spans.map(({ to }) => to)),
    tone: 'whole',
  };
  return [whole, ...spans.slice(-MAX_SPANS)];
}
