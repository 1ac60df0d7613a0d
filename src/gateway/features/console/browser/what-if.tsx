// What would happen if somebody called a tool: the gateway judges the call and says why, and nothing is called.
import { useEffect, useState } from 'preact/hooks';
import type { JudgedCall } from '../../judged-call.ts';
import type { AccessView, ToolsView, WhatIfView } from '../views.ts';
import { read } from './api.tsx';
import { Section } from './parts.tsx';

const EFFECTS: Readonly<Record<WhatIfView['effect'], { tone: string; words: string }>> = {
  allow: { tone: 'good', words: 'It is called.' },
  ask: { tone: 'busy', words: 'A person is asked first.' },
  deny: { tone: 'bad', words: 'It is refused.' },
  hide: { tone: 'bad', words: 'It is hidden: the caller hears that there is no such tool.' },
};

type Found = { readonly view: WhatIfView } | { readonly problem: string };

export function WhatIf({ access }: { access: Pick<AccessView, 'callers' | 'servers'> }) {
  const [found, setFound] = useState<Found | undefined>(undefined);
  const judge = (asked: URLSearchParams): void =>
    void read<WhatIfView>(`judge?${asked}`).then(
      (view) => setFound({ view }),
      ({ message }: Error) => setFound({ problem: message }),
    );
  return (
    <Section title="What would happen if" note="nothing is called">
      <Question access={access} onAsked={judge} />
      <div role="status">{found && 'view' in found && <Answer found={found.view} />}</div>
      {found && 'problem' in found && (
        <p class="problem" role="alert">
          {found.problem}
        </p>
      )}
    </Section>
  );
}

interface QuestionParts {
  readonly access: Pick<AccessView, 'callers' | 'servers'>;
  readonly onAsked: (asked: URLSearchParams) => void;
}

function Question({ access, onAsked }: QuestionParts) {
  const [server, setServer] = useState(access.servers[0] ?? '');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const fields = [...new FormData(event.target as HTMLFormElement)];
    onAsked(new URLSearchParams(fields.map(([name, value]) => [name, String(value)])));
  };
  return (
    <form class="card fields" onSubmit={submit}>
      <label>
        Caller
        <input name="caller" list="callers" placeholder="anonymous" autocomplete="off" spellcheck={false} />
      </label>
      <label>
        Server
        <select name="server" value={server} onChange={({ currentTarget }) => setServer(currentTarget.value)}>
          {access.servers.map((name) => (
            <option>{name}</option>
          ))}
        </select>
      </label>
      <label>
        Tool
        <input name="tool" list="tools" required autocomplete="off" spellcheck={false} />
      </label>
      <label class="wide">
        Arguments, as JSON
        <textarea name="args" rows={3} spellcheck={false} placeholder="{}" />
      </label>
      <Suggestions callers={access.callers} server={server} />
      <p class="wide">
        <button class="primary">Judge</button>
      </p>
    </form>
  );
}

function Suggestions({ callers, server }: { callers: readonly string[]; server: string }) {
  const [tools, setTools] = useState<ToolsView['tools']>([]);
  useEffect(() => {
    read<ToolsView>('tools').then(
      (view) => setTools(view.tools),
      () => {}, // their names can be typed
    );
  }, []);
  return (
    <>
      <datalist id="callers">
        {['anonymous', ...callers].map((name) => (
          <option value={name} />
        ))}
      </datalist>
      <datalist id="tools">
        {tools.flatMap((tool) => (tool.server === server ? <option value={tool.name} /> : []))}
      </datalist>
    </>
  );
}

function Answer({ found: { effect, decided, judged, notes } }: { found: WhatIfView }) {
  const { tone, words } = EFFECTS[effect];
  return (
    <div class="card answer">
      <p>
        <strong class={`state ${tone}`}>{words}</strong>
      </p>
      <p>
        {decided === null ? (
          'No rule and no setting says anything about it.'
        ) : decided.rule === null ? (
          `Decided by ${decided.by}: ${decided.why}.`
        ) : (
          <>
            <code>{decided.rule}</code> decides: {decided.why}.
          </>
        )}
      </p>
      {judged.map(({ by, checked }) => checked.length > 0 && <Checked key={by} checked={checked} />)}
      {notes.map((note) => (
        <p class="soft">{note}</p>
      ))}
    </div>
  );
}

function Checked({ checked }: Pick<JudgedCall, 'checked'>) {
  return (
    <ol class="checked">
      {checked.map(({ name, decides, why }) => (
        <li class={decides ? undefined : 'soft'}>
          <code>{name}</code> {why}
          {decides && <strong>: it decides</strong>}
        </li>
      ))}
    </ol>
  );
}
