// What is the case now: what waits for a person, the servers, and who is connected.
import { useState } from 'preact/hooks';
import type { ClientRow, QuestionRow, ServerRow } from '../views.ts';
import { act, now } from './api.tsx';
import { Ago, Name, Section, State, Until } from './parts.tsx';

export function NowPage() {
  const { questions, servers, clients } = now.value!;
  return (
    <>
      <h1>Now</h1>
      <section aria-labelledby="waiting">
        <h2 id="waiting" tabIndex={-1}>
          Waiting for an answer
        </h2>
        <p class="unseen" role="status">
          {questions.length === 0 ? 'Nothing waits' : `${questions.length} waiting`}
        </p>
        {questions.length === 0 && <p class="empty">Nothing waits. Calls that need a yes appear here at once.</p>}
        <div class="questions">
          {questions.map((question) => (
            <Question key={question.handle} question={question} />
          ))}
        </div>
      </section>
      <Section title="Servers" note={String(servers.length)}>
        <Servers servers={servers} />
      </Section>
      <Section title="Connected clients" note={String(clients.length)}>
        {clients.length === 0 ? (
          <p class="empty">No client keeps a session. Clients of 2026-07-28 need none.</p>
        ) : (
          <Clients clients={clients} />
        )}
      </Section>
    </>
  );
}

function Question({ question }: { question: QuestionRow }) {
  const { handle, tool, server, client, user, since, expires, isTheirs, questions, link, waitsFor } = question;
  const title = `question-${handle}`;
  return (
    <article class="card question" aria-labelledby={title}>
      <header>
        <h3 id={title}>
          <Name>{tool ?? 'A question'}</Name>
          {server !== null && <span class="soft"> of {server}</span>}
        </h3>
        <p class="soft">
          <Name>{client}</Name>
          {user !== null && (
            <>
              {' '}
              for <Name>{user}</Name>
            </>
          )}
          {since !== null && (
            <>
              {' · '}
              <Ago at={since} />
            </>
          )}
          {' · '}ends in <Until at={expires} />
        </p>
      </header>
      {waitsFor !== null && <p class="text">{waitsFor}</p>}
      {questions.map(({ message, host }) => (
        <Message message={message} host={host} />
      ))}
      {isTheirs ? (
        <Answers
          handle={handle}
          tool={tool ?? 'the question'}
          isConfirm={questions.length === 1 && questions[0]!.isConfirm}
          link={link}
          hint={questions[0]?.hint ?? null}
        />
      ) : (
        <p class="soft">Only {user === null ? 'a paired browser' : <Name>{user}</Name>} can answer this.</p>
      )}
    </article>
  );
}

/** Everything is shown, whole: a person approves only what they have seen. */
function Message({ message, host }: { message: string; host: string | null }) {
  const cut = message.indexOf('\n\n');
  const [head, rest] = cut === -1 ? [message, ''] : [message.slice(0, cut), message.slice(cut + 2)];
  return (
    <>
      <p class="text" dir="auto">
        {head}
      </p>
      {rest !== '' && (
        <pre class="arguments" dir="auto">
          {rest}
        </pre>
      )}
      {host !== null && (
        <p class="text">
          It is answered at <strong>{host}</strong>.
        </p>
      )}
    </>
  );
}

interface AnswersProps {
  handle: string;
  tool: string;
  isConfirm: boolean;
  link: string | null;
  hint: string | null;
}

function Answers({ handle, tool, isConfirm, link, hint }: AnswersProps) {
  const [state, setState] = useState<{ said?: string | undefined; problem?: string | undefined }>({});
  const say = async (word: string): Promise<void> => {
    setState({ said: word });
    const problem = await act('answer', { handle, say: word }, handle);
    if (problem === undefined) document.getElementById('waiting')?.focus();
    else setState({ problem });
  };
  const isBusy = state.said !== undefined;
  return (
    <>
      <div class="row" role="group" aria-label={`Answer ${tool}`}>
        {isConfirm && (
          <button class="primary" disabled={isBusy} onClick={() => void say('yes')}>
            Yes
          </button>
        )}
        {isConfirm && (
          <button disabled={isBusy} onClick={() => void say('no')}>
            No
          </button>
        )}
        {!isConfirm && link !== null && (
          <a class="button primary" href={link}>
            Answer …
          </a>
        )}
        {!isConfirm && (
          <button disabled={isBusy} onClick={() => void say('decline')}>
            Decline
          </button>
        )}
        {hint !== null && <p class="hint">{hint}</p>}
      </div>
      {state.problem !== undefined && (
        <p class="problem" role="alert">
          {state.problem}
        </p>
      )}
    </>
  );
}

function Servers({ servers }: { servers: readonly ServerRow[] }) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Servers">
      <table>
        <thead>
          <tr>
            <th scope="col">Server</th>
            <th scope="col">State</th>
            <th scope="col">It is</th>
            <th scope="col">Revision</th>
            <th scope="col">By</th>
            <th scope="col" class="number">
              Tools
            </th>
            <th scope="col" class="number">
              Connections
            </th>
          </tr>
        </thead>
        <tbody>
          {servers.map((server) => (
            <Server key={server.name} server={server} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Server({ server }: { server: ServerRow }) {
  const { name, state, title, version, revision, transport, tools, held, connections, failure, findings } = server;
  const notes = [...(failure === null ? [] : [failure]), ...findings];
  return (
    <>
      <tr class={notes.length > 0 ? 'noted' : undefined}>
        <th scope="row">{name}</th>
        <td>
          <State state={state} />
        </td>
        <td>
          {title === null ? '–' : <Name>{title}</Name>} {version !== null && <span class="soft">{version}</span>}
        </td>
        <td>{revision ?? '–'}</td>
        <td>{transport ?? '–'}</td>
        <td class="number">
          {tools ?? '–'}
          {held > 0 && <span class="warn"> {held} held back</span>}
        </td>
        <td class="number">{connections}</td>
      </tr>
      {notes.length > 0 && (
        <tr class="note">
          <td colSpan={7}>
            {notes.map((note) => (
              <p class="text">{note}</p>
            ))}
          </td>
        </tr>
      )}
    </>
  );
}

function Clients({ clients }: { clients: readonly ClientRow[] }) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Connected clients">
      <table>
        <thead>
          <tr>
            <th scope="col">Client</th>
            <th scope="col">Who</th>
            <th scope="col">Revision</th>
            <th scope="col">By</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {clients.map(({ id, name, version, who, revision, transport, since }) => (
            <tr key={id}>
              <th scope="row">
                <Name>{name}</Name> {version !== null && <span class="soft">{version}</span>}
              </th>
              <td class="who">{who}</td>
              <td>{revision}</td>
              <td>{transport ?? '–'}</td>
              <td>
                <Ago at={since} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
