// What is wrong with a configuration, all of it at once. Never holds a value that may be a secret: a problem says where it
// is, not what stands there.
import { toText } from '../read/places.ts';
import type { Path, Place, Places } from '../read/places.ts';

export interface Problem {
  /** Nothing runs with an error; with a warning it runs, though perhaps not as meant; a note is good to know. */
  level: 'error' | 'warning' | 'note';
  /** Such as `mcpServers.files.command`; empty for the file as a whole. */
  path: string;
  line: number | undefined;
  column: number | undefined;
  message: string;
  /** What to do about it. */
  hint: string;
}

export class Problems {
  readonly list: Problem[] = [];
  readonly #paths = new Map<Problem, Path>();
  readonly #places: Places | undefined;

  constructor(places?: Places) {
    this.#places = places;
  }

  get hasErrors(): boolean {
    return this.list.some(({ level }) => level === 'error');
  }

  error(path: Path, message: string, hint: string): void {
    this.#add('error', path, { message, hint, place: this.#places?.find(path) });
  }

  warn(path: Path, message: string, hint: string): void {
    this.#add('warning', path, { message, hint, place: this.#places?.find(path) });
  }

  note(path: Path, message: string, hint: string): void {
    this.#add('note', path, { message, hint, place: this.#places?.find(path, 'key') });
  }

  /** Of the name that stands at the path, not of what it is given. */
  ofKey(path: Path, told: { message: string; hint: string; level?: Problem['level'] }): void {
    this.#add(told.level ?? 'error', path, { ...told, place: this.#places?.find(path, 'key') });
  }

  /** Of the text itself. */
  ofText(place: Place, message: string, hint: string): void {
    this.#add('error', [], { message, hint, place });
  }

  /** Whether an error is at the path or within it. */
  hasErrorsAt(path: Path): boolean {
    return this.#errorsAt(path).length > 0;
  }

  /** What stands at the path is not used: its errors keep nothing else from being used, and say what that means. */
  forgiveAt(path: Path, consequence: string): void {
    for (const problem of this.#errorsAt(path)) {
      problem.level = 'warning';
      problem.hint += ` ${consequence}`;
    }
  }

  /** In the order of the file. */
  sorted(): Problem[] {
    return inOrder(this.list);
  }

  #errorsAt(path: Path): Problem[] {
    const isWithin = (problem: Problem): boolean => {
      const at = this.#paths.get(problem)!;
      return path.every((part, index) => at[index] === part);
    };
    return this.list.filter((problem) => problem.level === 'error' && isWithin(problem));
  }

  #add(
    level: Problem['level'],
    path: Path,
    { message, hint, place }: { message: string; hint: string; place: Place | undefined },
  ): void {
    const problem = { level, path: toText(path), line: place?.line, column: place?.column, message, hint };
    this.list.push(problem);
    this.#paths.set(problem, path);
  }
}

export function inOrder(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

/** One line: `parley.config.jsonc:3:7: error: mcpServers.files.comand: unknown key. Did you mean "command"?` */
export function toLine(problem: Problem, file: string): string {
  const { level, path, line, column, message, hint } = problem;
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  return `${place}: ${level}: ${path === '' ? '' : `${path}: `}${message}. ${hint}`;
}
