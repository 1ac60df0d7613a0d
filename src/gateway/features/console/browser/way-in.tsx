// What a browser sees that nobody has let in: how to get in.
import { signal } from '@preact/signals';
import { enterUrl, redeem, wayIn } from './api.tsx';

export const codeProblem = signal<string | undefined>(undefined);

export function WayIn() {
  const login = wayIn.value?.login ?? null;
  return (
    <main class="way-in">
      <p class="brand">Parley</p>
      <h1>Who is there?</h1>
      <p>This is the console of an MCP gateway: its servers, its calls, and what waits for a person.</p>
      {login !== null && (
        <form method="post" action={enterUrl()} class="card">
          <h2>With your login</h2>
          <p>You see what belongs to you.</p>
          <button class="primary" name="do" value="login">
            Log in at {login}
          </button>
        </form>
      )}
      <form class="card" onSubmit={(event) => void submit(event)}>
        <h2>{login === null ? 'On the machine of the gateway' : 'As its operator'}</h2>
        <p>
          Run <code>parley open</code>. It opens this page for you. For another browser, such as that of a phone, run{' '}
          <code>parley pair</code> and enter the code:
        </p>
        <label for="code">Code</label>
        <div class="row">
          <input
            id="code"
            name="code"
            autocomplete="off"
            autocapitalize="characters"
            spellcheck={false}
            placeholder="ABCD-EFGH-JKLM"
            aria-invalid={codeProblem.value !== undefined}
            aria-describedby={codeProblem.value === undefined ? undefined : 'code-problem'}
          />
          <button class={login === null ? 'primary' : undefined}>Let me in</button>
        </div>
        {codeProblem.value !== undefined && (
          <p id="code-problem" class="problem" role="alert">
            {codeProblem.value}
          </p>
        )}
      </form>
      <p class="soft">
        Questions can also be answered without this console, at <a href="ask">the answer page</a>.
      </p>
    </main>
  );
}

async function submit(event: SubmitEvent): Promise<void> {
  event.preventDefault();
  const code = new FormData(event.target as HTMLFormElement).get('code');
  if (typeof code === 'string' && code.trim() !== '') codeProblem.value = await redeem(code.trim());
}
