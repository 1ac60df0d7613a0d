// Names of servers and groups. They are the prefix of tool names (`server__tool`: letters, digits, _ and -, at most 64) and part of the
// path /mcp/<name>, so they use the same characters.
import type { ConfigPath, ConfigProblems } from './config-problems.ts';

/** Leaves room for the name of the tool. */
const MAX_LENGTH = 48;

/** "My Server" → "My-Server", "io.github.me/thing" → "io-github-me-thing". */
export function toServerName(written: string): string {
  const plain = written.replaceAll(/[^\w-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return plain === '' ? fromOtherScript(written) : plain;
}

/** "мой" → "xn--i1abb", as in host names: a standard spelling in these letters. */
function fromOtherScript(written: string): string {
  const word = written.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-+|-+$/g, '');
  const url = `http://${word}`;
  return word !== '' && URL.canParse(url) ? new URL(url).hostname : '';
}

/** Reports unusable names, and two names that become the same. */
export function checkServerNames(paths: readonly ConfigPath[], problems: ConfigProblems): void {
  const known = new Map<string, string>();
  for (const path of paths) {
    const written = String(path.at(-1));
    const name = toServerName(written);
    const first = known.get(name);
    known.set(name, first ?? written);
    const trouble = first === undefined ? troubleWith(name) : `this is the same name as "${first}"`;
    if (trouble !== undefined) problems.ofKey(path, { message: trouble, hint: 'Give it another name.' });
  }
}

function troubleWith(name: string): string | undefined {
  if (name === '') return 'a name needs letters or digits';
  if (name.includes('__')) return 'a name cannot contain "__": it separates a server from its tool';
  return name.length > MAX_LENGTH ? `a name has at most ${MAX_LENGTH} characters` : undefined;
}
