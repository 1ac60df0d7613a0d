// Calls a tool with a form that is made from its schema, as the operator: rules, approvals and the audit log hold as for any client.
import { useState } from 'preact/hooks';
import { NEEDS_YES } from '../calls/needs-yes.ts';
import type { ToolRow } from '../views.ts';
import { askFor } from './api.tsx';
import { Problem } from './parts.tsx';
import { toHref } from './route.tsx';
import { readArguments, toFields } from './try-fields.tsx';
import type { TryField } from './try-fields.tsx';

interface Tried {
  outcome?: 'done' | 'running';
  text?: string;
  isCut?: boolean;
  problem?: string;
}

export function TryTool({ tool: { server, name, schema, state } }: { tool: ToolRow }) {
  const [tried, setTried] = useState<Tried>({});
  const [isBusy, setBusy] = useState(false);
  const fields = toFields(schema);
  if (state !== 'shown') return null;
  const run = async (form: HTMLFormElement, confirmed: string): Promise<void> => {
    const args = readArguments(fields, new FormData(form));
    if (typeof args === 'string') return setTried({ problem: args });
    setBusy(true);
    setTried(await askFor<Tried>('try', { server, tool: name, args: JSON.stringify(args), confirmed }));
    setBusy(false);
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const wants = (event.submitter as HTMLButtonElement | null)?.value ?? '';
    void run(event.currentTarget as HTMLFormElement, wants);
  };
  const isAsking = tried.problem === NEEDS_YES;
  return (
    <form class="answer" aria-label={`Try ${name}`} onSubmit={submit}>
      {fields.map((field) => (
        <Field key={field.name} field={field} prefix={`${server}-${name}`} />
      ))}
      <div class="row">
        {isAsking ? (
          <>
            <span class="warn" role="status">
              It may change something. Run it?
            </span>
            <button class="primary" value="yes" disabled={isBusy}>
              Run it
            </button>
            <button type="button" onClick={() => setTried({})}>
              Leave it
            </button>
          </>
        ) : (
          <button disabled={isBusy}>Try it</button>
        )}
      </div>
      <Problem text={isAsking ? undefined : tried.problem} />
      <div role="status">{tried.outcome && <Outcome tried={tried} />}</div>
    </form>
  );
}

function Outcome({ tried: { outcome, text, isCut } }: { tried: Tried }) {
  const calls = <a href={toHref('calls', { find: 'parley-console' })}>calls</a>;
  if (outcome === 'running')
    return (
      <p>
        It has not ended: it still runs, or waits for an answer on the page <a href={toHref('now')}>Now</a>. Its result
        will be among the {calls}.
      </p>
    );
  return (
    <>
      <p class="soft small">It answered, and is among the {calls}:</p>
      <pre class="body" tabIndex={0} dir="auto">
        {toLines(text ?? '')}
        {isCut && <em>… it is longer, and was cut</em>}
      </pre>
    </>
  );
}

function toLines(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // it was cut
  }
}

function Field({ field, prefix }: { field: TryField; prefix: string }) {
  const id = `${prefix}-${field.name}`;
  return (
    <p class="field">
      <label for={id}>
        {field.name}
        {!field.isRequired && <span class="soft"> optional</span>}
      </label>
      <Input field={field} id={id} />
      {field.help !== '' && (
        <span id={`${id}-help`} class="soft small">
          {field.help}
        </span>
      )}
    </p>
  );
}

function Input({ field: { name, kind, options, help, isRequired }, id }: { field: TryField; id: string }) {
  const about = { id, name, required: isRequired, 'aria-describedby': help === '' ? undefined : `${id}-help` };
  if (kind === 'choice')
    return (
      <select {...about}>
        <option value="">–</option>
        {options.map((option, index) => (
          <option value={String(index)}>{String(option)}</option>
        ))}
      </select>
    );
  if (kind === 'lines') return <textarea {...about} rows={3} placeholder="One in each line" />;
  if (kind === 'json') return <textarea {...about} rows={4} spellcheck={false} placeholder="As JSON" />;
  return <input {...about} inputMode={kind === 'number' ? 'decimal' : 'text'} autocomplete="off" />;
}
