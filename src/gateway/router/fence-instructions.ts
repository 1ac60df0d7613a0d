// Joins the instructions of several servers, each under a heading with its name. No server can write such a heading itself: its own headings are put
// below it, and lines that would make the line above a heading are taken as text.
import { withoutHidden } from '../../shared/text/hidden.ts';

export interface ServerInstructions {
  name: string;
  text: string;
}

export function fenceInstructions(said: readonly ServerInstructions[]): string | undefined {
  if (said.length === 0) return undefined;
  return said.map(({ name, text }) => `## ${name}\n${fenced(text)}`).join('\n\n');
}

function fenced(text: string): string {
  return withoutHidden(text).split(LINE_END).map(toInnerLine).join('\n');
}

const LINE_END = /\r\n|[\n\r\u2028\u2029]/;

function toInnerLine(line: string): string {
  const heading = /^(\s*)(#{1,2})(?!#)/.exec(line);
  if (heading) return `${heading[1]}###${line.slice(heading[0].length)}`;
  return /^\s*(?:=+|-{2,})\s*$/.test(line) ? `\\${line.trim()}` : line;
}
