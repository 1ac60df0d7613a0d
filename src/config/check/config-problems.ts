// What is wrong with a configuration, all of it at once. Never holds a value that may be a secret: a problem says where it
// is, not what stands there.
import { formatPath } from '../read/source-positions.ts';
import type { ConfigPath, SourcePosition, SourcePositions } from '../read/source-positions.ts';

export interface ConfigProblem {
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

export class ConfigProblems {
  readonly list: ConfigProblem[] = [];
  readonly #paths = new Map<ConfigProblem, ConfigPath>();
  readonly #places: SourcePositions | undefined;

  constructor(places?: SourcePositions) {
    this.#places = places;
  }

  get hasErrors(): boolean {
    return this.list.some(({ level }) => level === 'error');
  }

  error(path: ConfigPath, message: string, hint: string): void {
    this.#add('error', path, { message, hint, place: this.#places?.find(path) });
  }

  warn(path: ConfigPath, message: string, hint: string): void {
    this.#add('warning', path, { message, hint, place: this.#places?.find(path) });
  }

  note(path: ConfigPath, message: string, hint: string): void {
    this.#add('note', path, { message, hint, place: this.#places?.find(path, 'key') });
  }

  /** Of the name that stands at the path, not of what it is given. */
  ofKey(path: ConfigPath, told: { message: string; hint: string; level?: ConfigProblem['level'] }): void {
    this.#add(told.level ?? 'error', path, { ...told, place: this.#places?.find(path, 'key') });
  }

  /** Of the text itself. */
  ofText(place: SourcePosition, message: string, hint: string): void {
    this.#add('error', [], { message, hint, place });
  }

  /** Whether an error is at the path or within it. */
  hasErrorsAt(path: ConfigPath): boolean {
    return this.#errorsAt(path).length > 0;
  }

  /** What stands at the path is not used: its errors keep nothing else from being used, and say what that means. */
  forgiveAt(path: ConfigPath, consequence: string): void {
    for (const problem of this.#errorsAt(path)) {
      problem.level = 'warning';
      problem.hint += ` ${consequence}`;
    }
  }

  /** In the order of the file. */
  sorted(): ConfigProblem[] {
    return sortProblems(this.list);
  }

  #errorsAt(path: ConfigPath): ConfigProblem[] {
    const isWithin = (problem: ConfigProblem): boolean => {
      const at = this.#paths.get(problem)!;
      return path.every((part, index) => at[index] === part);
    };
    return this.list.filter((problem) => problem.level === 'error' && isWithin(problem));
  }

  #add(
    level: ConfigProblem['level'],
    path: ConfigPath,
    { message, hint, place }: { message: string; hint: string; place: SourcePosition | undefined },
  ): void {
    const problem = { level, path: formatPath(path), line: place?.line, column: place?.column, message, hint };
    this.list.push(problem);
    this.#paths.set(problem, path);
  }
}

export function sortProblems(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

/** One line: `parley.config.jsonc:3:7: error: mcpServers.files.comand: unknown key. Did you mean "command"?` */
export function formatProblem(problem: ConfigProblem, file: string): string {
  const { level, path, line, column, message, hint } = problem;
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  return `${place}: ${level}: ${path === '' ? '' : `${path}: `}${message}. ${hint}`;
}
