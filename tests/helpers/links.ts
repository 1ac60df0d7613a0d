// Finds the links of a Markdown page to other files of the project.
import { read } from './files.ts';

/** Inline links and images, definitions of references, and HTML. */
const FORMS = [/\]\(\s*<?([^)\s>]+)/g, /^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)/gm, /\b(?:src|srcset|href)="([^"\s]+)/g];

/** The links as written, without those in code. */
export function linksOf(page: string): string[] {
  return linksIn(read(page));
}

export function linksIn(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return FORMS.flatMap((form) => [...prose.matchAll(form)].map((match) => match[1]!)).filter(
    (link) => !/^[a-z]+:/.test(link),
  );
}
