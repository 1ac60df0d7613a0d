// Opens a link in the browser of this machine. Only http and https, and never by a shell: a link comes from a server.
import { spawn } from 'node:child_process';

interface BrowserSituation {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
}

/** False if there is nobody to see it; then the printed link is all there is. */
export function openBrowser(link: string): boolean {
  const [program, ...args] = browserCommand(link, process) ?? [];
  if (program === undefined) return false;
  const child = spawn(program, args, { stdio: 'ignore', detached: true, shell: false, windowsHide: true });
  child.on('error', () => {}); // no such program: the link was printed
  child.unref();
  return true;
}

/** The program and its arguments. */
export function browserCommand(link: string, { env, platform }: BrowserSituation): string[] | undefined {
  const url = URL.canParse(link) ? new URL(link) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return undefined;
  // The URL parser leaves no double quotes, spaces or control characters. The rest that shells read is encoded: `xdg-open` is a script.
  const href = url.href.replace(/[`|\\$'();*!{}^]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const chosen = env['BROWSER'];
  if (chosen !== undefined && chosen !== '') return chosen === 'none' ? undefined : [chosen, href];
  if (env['SSH_CONNECTION'] || env['SSH_TTY']) return undefined;
  if (platform === 'darwin') return ['open', href];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', href];
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open', href] : undefined;
}
