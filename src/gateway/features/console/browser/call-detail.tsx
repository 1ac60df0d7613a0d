// One call with both of its legs side by side: what the client sent and got in its revision, what the server got and answered in its own, what is
// different between them, who was asked, and where the time went.
import { useEffect, useState } from 'preact/hooks';
import type { CallLeg, CallRow, CallView } from '../views.ts';
import { now, read } from './api.tsx';
import { rowOf } from './calls.tsx';
import { changedLines, toPretty } from './json-text.tsx';
import { Name, Outcome, toDuration, toTime } from './parts.tsx';
import { RepeatCall } from './repeat-call.tsx';
import { route, toHref } from './route.tsx';
import { TimeLine } from './time-line.tsx';
import type { Span } from './time-line.tsx';

export function CallDetail({ id }: { id: string }) {
  const [call, setCall] = useState<CallView | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const seq = rowOf(id)?.seq ?? 0;
  useEffect(() => {
    let isCurrent = true;
    read<CallView>(`call?id=${encodeURIComponent(id)}`).then(
      (found) => isCurrent && setCall(found),
      (error: Error) => isCurrent && setProblem(error.message),
    );
    return () => void (isCurrent = false);
  }, [id, seq]);
  const { call: _, ...query } = Object.fromEntries(route.value.query);
  return (
    <>
      <p class="back">
        <a href={toHref('calls', query)}>← All calls</a>
      </p>
      {call ? <Call call={call} /> : <h1>{problem ?? 'Loading …'}</h1>}
    </>
  );
}

function Call({ call }: { call: CallView }) {
  const { row, legs, approvals, findings } = call;
  const facts: [string, preact.ComponentChildren][] = [
    ['Outcome', <Outcome outcome={row.outcome} tone={row.tone} />],
    ['Took', row.ms === null ? '…' : toDuration(row.ms)],
    ['At', toTime(row.at)],
    ['Client', <Name>{row.client}</Name>],
    ['Who', <span class="who">{row.who}</span>],
    ['Server', row.server ?? '–'],
    ...(row.rule === null ? [] : ([['Rule', row.rule]] as [string, string][])),
  ];
  return (
    <>
      <h1>
        <Name>{row.name ?? row.method}</Name>
      </h1>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {approvals.map(({ outcome, way, by, reason }) => (
        <p class="card text">
          {outcome === 'given' ? 'Approved' : 'Not approved'}
          {by !== null && (
            <>
              {' '}
              by <strong>{by}</strong>
            </>
          )}
          {way !== '' && `, ${wordsOf(way)}`}
          {reason !== null && `: ${reason}`}
        </p>
      ))}
      {findings.length > 0 && <p class="card problem text">Suspicious in the answer: {findings.join(', ')}</p>}
      {legs.length === 0 ? (
        <p class="empty">
          Nobody was looking when this call was made, so its messages were not kept. While the console is open, those of
          each call are.
        </p>
      ) : (
        <Legs row={row} legs={legs} />
      )}
    </>
  );
}

function wordsOf(way: string): string {
  const words: Record<string, string> = {
    client: 'in the form of the client',
    page: 'on a page of the gateway',
    remembered: 'from an earlier yes',
    rule: 'by a rule',
  };
  return words[way] ?? way;
}

function Legs({ row, legs }: { row: CallRow; legs: readonly CallLeg[] }) {
  const [called, answered] = [
    legs.find(({ kind }) => kind === 'called'),
    legs.findLast(({ kind }) => kind === 'answered'),
  ];
  const [sent, received] = [legs.find(({ kind }) => kind === 'sent'), legs.findLast(({ kind }) => kind === 'received')];
  const questions = legs.filter(({ kind }) => kind === 'asked');
  // Others do not get the legs next to the server.
  const isOperator = now.value?.viewer.isOperator === true;
  return (
    <>
      <TimeLine title="Where the time went" spans={toSpans(row, legs)} />
      {questions.map((question) => (
        <section>
          <h2>
            Asked <span class="soft">{question.about}</span>
          </h2>
          <Body leg={question} other={undefined} />
        </section>
      ))}
      <div class="legs">
        <section aria-label="Between the client and the gateway">
          <h2>
            Client <span class="soft">{called?.about}</span>
          </h2>
          <h3>It sent</h3>
          <Body leg={called} other={sent} />
          <h3>It got</h3>
          <Body leg={answered} other={received} />
          <CopyCall row={row} leg={called} />
          <RepeatCall row={row} leg={called} />
        </section>
        {isOperator && (
          <section aria-label="Between the gateway and the server">
            <h2>
              Server <span class="soft">{sent?.about ?? 'it was not reached by a message'}</span>
            </h2>
            <h3>It got</h3>
            <Body leg={sent} other={called} />
            <h3>It answered</h3>
            <Body leg={received} other={answered} />
          </section>
        )}
      </div>
      {sent && (
        <p class="soft">Marked lines are not the same on the other side: the gateway or its steps have changed them.</p>
      )}
    </>
  );
}

/** Lines that the other side does not have are marked. */
function Body({ leg, other }: { leg: CallLeg | undefined; other: CallLeg | undefined }) {
  if (!leg || leg.text === null) return <p class="empty">Nothing.</p>;
  const lines = toPretty(leg);
  const marked = other && other.text !== null ? changedLines(lines, toPretty(other)) : undefined;
  return (
    <pre class="body" tabIndex={0} dir="auto">
      {lines.map((line, index) => (marked?.has(index) ? <mark>{`${line}\n`}</mark> : `${line}\n`))}
      {leg.isCut && <em>… it is longer, and was cut</em>}
    </pre>
  );
}

function toSpans(row: CallRow, legs: readonly CallLeg[]): Span[] {
  const end = row.ms ?? legs.at(-1)?.at ?? 0;
  const pair = (first: CallLeg['kind'], second: CallLeg['kind'], label: string, tone: string): Span[] => {
    const ends = legs.filter(({ kind }) => kind === second);
    return legs
      .filter(({ kind }) => kind === first)
      .map((leg, index) => ({ label, from: leg.at, to: ends[index]?.at ?? end, tone }));
  };
  return [
    { label: 'The call', from: 0, to: end, tone: 'whole' },
    ...pair('asked', 'replied', 'Waiting for an answer', 'wait'),
    ...pair('sent', 'received', `At ${row.server ?? 'the server'}`, 'server'),
  ].toSorted((one, other) => one.from - other.from);
}

/** As somebody would type it. */
function CopyCall({ row, leg }: { row: CallRow; leg: CallLeg | undefined }) {
  const [isCopied, setCopied] = useState(false);
  const command = leg && toCommand(row, leg);
  if (command === undefined) return null;
  const copy = (): void =>
    void navigator.clipboard.writeText(command).then(
      () => setCopied(true),
      () => {},
    );
  return (
    <p class="row">
      <button onClick={copy}>Copy as parley call</button>
      <span role="status">{isCopied ? 'Copied' : ''}</span>
    </p>
  );
}

function toCommand({ name, shownName, isTool }: CallRow, { text, isCut }: CallLeg): string | undefined {
  if (!isTool || text === null || isCut) return undefined;
  try {
    const { arguments: given = {} } = JSON.parse(text) as { arguments?: object };
    const quoted = JSON.stringify(given).replaceAll("'", String.raw`'\''`);
    return `parley call '${(shownName ?? name ?? '').replaceAll("'", String.raw`'\''`)}' '${quoted}'`;
  } catch {
    return undefined;
  }
}
