// Links of a Markdown page to other files of the project.
import { read } from './files.ts';

/** As they are written; those in code blocks are none. */
export function linksOf(page: string): string[] {
  const prose = read(page).replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!).filter((link) => !/^[a-z]+:/.test(link));
}
