// Who may do what: the rules and what would happen if, API keys, paired browsers, and logins at servers. Never a key or a token.
import { useEffect, useState } from 'preact/hooks';
import type { ShownRule } from '../../judged-call.ts';
import type { AccessView, BrowserRow, KeyRow, LoginRow } from '../views.ts';
import { act, read } from './api.tsx';
import { Ago, Name, Section, Until } from './parts.tsx';
import { Table } from './table.tsx';
import { WhatIf } from './what-if.tsx';

export function AccessPage() {
  const [view, setView] = useState<AccessView | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const load = (): void => void read<AccessView>('access').then(setView, (error: Error) => setProblem(error.message));
  useEffect(load, []);
  if (!view) return <h1>{problem ?? 'Access'}</h1>;
  const { rules, keys, browsers, logins } = view;
  return (
    <>
      <h1>Access</h1>
      <WhatIf access={view} />
      <Section title="Rules" note={String(rules.length)}>
        {rules.length === 0 ? (
          <p class="empty">There are no rules: everybody who is let in may call every tool that is shown.</p>
        ) : (
          <Rules rules={rules} />
        )}
      </Section>
      <Section title="API keys" note={String(keys.length)}>
        <p class="soft intro">{CALLERS[view.login]}</p>
        {keys.length > 0 && <Keys keys={keys} />}
      </Section>
      <Section title="Paired browsers" note={String(browsers.length)}>
        <Browsers browsers={browsers} onChanged={load} />
      </Section>
      <Section title="Logins at servers" note={String(logins.length)}>
        {logins.length === 0 ? (
          <p class="empty">
            The gateway is logged in nowhere. A server that wants a login asks for it: <code>parley login SERVER</code>.
          </p>
        ) : (
          <Logins logins={logins} />
        )}
      </Section>
    </>
  );
}

const CALLERS: Readonly<Record<AccessView['login'], string>> = {
  none: 'Callers need none: whoever reaches the port may call.',
  token: 'Callers have the token of the user who runs the gateway, or one of these keys.',
  keys: 'Callers have one of these keys.',
  issuers: 'Callers log in at an issuer, or have one of these keys.',
};

function Rules({ rules }: { rules: readonly ShownRule[] }) {
  return (
    <ol class="rules card">
      {rules.map(({ name, effect, text }) => (
        <li key={name}>
          <code>{name}</code> <span class={`effect ${effect ?? ''}`}>{effect ?? 'marks'}</span>
          <code class="text">{text}</code>
        </li>
      ))}
    </ol>
  );
}

function Keys({ keys }: { keys: readonly KeyRow[] }) {
  const rows = keys.map(({ name, who, scopes, groups, expires, lastUsed }) => ({
    key: name,
    cells: [
      <Name>{name}</Name>,
      <Name>{who}</Name>,
      scopes?.join(', ') ?? 'all but admin',
      groups.length === 0 ? '–' : groups.join(', '),
      expires === null ? 'never' : <Expiry at={expires} />,
      lastUsed === null ? 'not since the start' : <Ago at={lastUsed} />,
    ],
  }));
  return <Table label="API keys" columns={['Key', 'Who', 'Scopes', 'Groups', 'Expires', 'Used']} rows={rows} />;
}

function Expiry({ at }: { at: number }) {
  if (at <= Date.now()) return <span class="state bad">expired</span>;
  return (
    <>
      in <Until at={at} />
    </>
  );
}

function Browsers({ browsers, onChanged }: { browsers: readonly BrowserRow[]; onChanged: () => void }) {
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [asked, setAsked] = useState<string | undefined>(undefined);
  const forget = async (name: string): Promise<void> => {
    setProblem(await act('forget', { name }));
    setAsked(undefined);
    onChanged();
  };
  const rows = browsers.map(({ name, user, since, isThis }) => ({
    key: name,
    cells: [
      <>
        <Name>{name}</Name> {isThis && <span class="soft">this one</span>}
      </>,
      user === null ? 'the operator' : <Name>{user}</Name>,
      <Ago at={since} />,
      asked === name ? (
        <span class="row">
          <button class="compact primary" onClick={() => void forget(name)}>
            Really take {name} away
          </button>
          <button class="compact" onClick={() => setAsked(undefined)}>
            Keep it
          </button>
        </span>
      ) : (
        <button class="compact" onClick={() => setAsked(name)}>
          Take away<span class="unseen"> {name}</span>
        </button>
      ),
    ],
  }));
  return (
    <>
      <Table label="Paired browsers" columns={['Browser', 'Answers for', 'Paired', '']} rows={rows} />
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

function Logins({ logins }: { logins: readonly LoginRow[] }) {
  const rows = logins.map(({ server, account, issuer, state, expires }, index) => ({
    key: String(index),
    cells: [
      server,
      account === null ? 'everybody' : <Name>{account}</Name>,
      <Name>{issuer}</Name>,
      <span class={`state ${state.startsWith('needs') ? 'bad' : 'good'}`}>{state}</span>,
      expires === null ? 'not said' : <Expiry at={expires} />,
    ],
  }));
  return (
    <Table label="Logins at servers" columns={['Server', 'For', 'Login by', 'State', 'Token expires']} rows={rows} />
  );
}
