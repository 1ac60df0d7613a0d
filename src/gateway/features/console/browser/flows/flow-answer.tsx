// An open question of a session, with the form to answer it, if this viewer may. The server of the flow checks the answer, and says here what is wrong with it.
import { useState } from 'preact/hooks';
import type { FlowField, FlowQuestion } from '../../../../../kernel/flow/flow-views.ts';
import { act } from '../api.tsx';
import { Name, Problem, Until } from '../parts.tsx';

interface FlowAnswerProps {
  id: string;
  question: FlowQuestion;
  /** An answer waits for the server of the flow. */
  isHanded: boolean;
  onAsked: () => void;
}

export function FlowAnswer({ id, question, isHanded, onAsked }: FlowAnswerProps) {
  const { promptId, key, message, complaint, until, fields, refusal } = question;
  const title = `question-${promptId}`;
  return (
    <article class="card question" aria-labelledby={title}>
      <header>
        <h2 id={title}>
          It asks <Name>{key}</Name>
        </h2>
        {until !== null && (
          <p class="soft">
            ends in <Until at={until} />
          </p>
        )}
      </header>
      <p class="text" dir="auto">
        {message}
      </p>
      <Problem text={complaint ?? undefined} />
      {refusal !== null ? (
        <p class="soft">It cannot be answered here: {refusal}.</p>
      ) : isHanded ? null : (
        <AnswerForm target={{ id, promptId }} fields={fields} onAsked={onAsked} />
      )}
    </article>
  );
}

interface AnswerFormProps {
  target: { id: string; promptId: string };
  fields: readonly FlowField[];
  onAsked: () => void;
}

function AnswerForm({ target, fields, onAsked }: AnswerFormProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [only] = fields;
  const isYesNo = fields.length === 1 && only!.kind === 'confirm';
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const given = new URLSearchParams({ do: 'answer', ...target });
    for (const [name, value] of new FormData(event.target as HTMLFormElement, event.submitter))
      given.append(`field.${name}`, String(value));
    setBusy(true);
    setProblem(await act('flow-request', given));
    setBusy(false);
    onAsked();
  };
  return (
    <form class="answer" onSubmit={(event) => void submit(event)}>
      {isYesNo ? (
        <div class="row">
          <button class="primary" name={only!.name} value="yes" disabled={isBusy}>
            Yes
          </button>
          <button name={only!.name} value="no" disabled={isBusy}>
            No
          </button>
        </div>
      ) : (
        <>
          {fields.map((field) => (
            <Field key={field.name} field={field} prefix={target.promptId} />
          ))}
          <div class="row">
            <button class="primary" disabled={isBusy}>
              Answer
            </button>
          </div>
        </>
      )}
      <Problem text={problem} />
    </form>
  );
}

function Field({ field, prefix }: { field: FlowField; prefix: string }) {
  const { name, label, help, kind } = field;
  const id = `${prefix}-${name}`;
  const hint = help === null ? undefined : `${id}-help`;
  if (kind === 'choices') return <Choices field={field} />;
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <Input field={field} id={id} hint={hint} />
      {help !== null && (
        <span id={hint} class="soft small">
          {help}
        </span>
      )}
    </p>
  );
}

function Input({ field, id, hint }: { field: FlowField; id: string; hint: string | undefined }) {
  const { name, kind, options } = field;
  const about = { id, name, 'aria-describedby': hint };
  if (kind === 'choice' || kind === 'confirm') {
    const all = kind === 'confirm' ? ['Yes', 'No'] : options;
    return (
      <select {...about}>
        <option value="">–</option>
        {all.map((label, index) => (
          <option value={kind === 'confirm' ? label : String(index)}>{label}</option>
        ))}
      </select>
    );
  }
  if (kind === 'json') return <textarea {...about} rows={4} spellcheck={false} placeholder="As JSON" />;
  if (kind === 'date') return <input {...about} type="date" />;
  return <input {...about} inputMode={kind === 'number' ? 'decimal' : 'text'} autocomplete="off" />;
}

function Choices({ field: { name, label, help, options } }: { field: FlowField }) {
  return (
    <fieldset>
      <legend>{label}</legend>
      {help !== null && <p class="soft small">{help}</p>}
      {options.map((option, index) => (
        <label class="check">
          <input type="checkbox" name={name} value={String(index)} /> {option}
        </label>
      ))}
    </fieldset>
  );
}
