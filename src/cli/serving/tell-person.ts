// Shows the operator where a question waits that only a person may answer: in a browser of this machine, or on the terminal. What a
// client or a model can read, such as the output of a process without a terminal, never has a code.
import type { NotifyPerson } from '../../people/trust/answer-trust.ts';
import { printableLine } from '../../kernel/base/visible.ts';

/** Undefined if there is neither; then only paired browsers can answer. */
export function tellPerson(stderr: NodeJS.WriteStream = process.stderr): NotifyPerson | undefined {
  const { env, platform } = process;
  const hasScreen = platform === 'darwin' || platform === 'win32' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
  const mayOpen = (hasScreen || Boolean(env['BROWSER'])) && env['BROWSER'] !== 'none';
  if (!mayOpen && !stderr.isTTY) return undefined;
  return async ({ link, about, hasBrowser, invite }) => {
    const { openBrowser } = await import('../login/open-browser.ts');
    const code = hasBrowser ? undefined : await invite();
    const isOpened = mayOpen && openBrowser(code === undefined ? link : `${link}&c=${code}`);
    if (isOpened || !stderr.isTTY) return;
    const what = printableLine([about.tool, about.server && `(${about.server})`].filter(Boolean).join(' '));
    stderr.write(`A person has to answer before ${what} continues. Open this page: ${link}\n`);
    if (code !== undefined) stderr.write(`No browser is paired yet. The page asks for this code: ${code}\n`);
  };
}
