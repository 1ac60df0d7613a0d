// Collects the problems of a configuration. A problem gives a position and never a value, which may be a secret.
import { formatPath } from '../read/source-positions.ts';
import type { ConfigPath, SourcePosition, SourcePositions } from '../read/source-positions.ts';

export interface ConfigProblem {
  /** With an error nothing runs. With a warning it runs, though perhaps not as intended. A note is information. */
  level: 'error' | 'warning' | 'note';
  /** Such as `mcpServers.files.command`; empty for the whole file. */
  path: string;
  line: number | undefined;
  column: number | undefined;
  message: string;
  /** What to do. */
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

  /** A problem of the key at the path, not of its value. */
  ofKey(path: ConfigPath, told: { message: string; hint: string; level?: ConfigProblem['level'] }): void {
    this.#add(told.level ?? 'error', path, { ...told, place: this.#places?.find(path, 'key') });
  }

  /** A problem of the text as a whole. */
  ofText(place: SourcePosition, message: string, hint: string): void {
    this.#add('error', [], { message, hint, place });
  }

  /** Whether there is an error at the path or inside it. */
  hasErrorsAt(path: ConfigPath): boolean {
    return this.#errorsAt(path).length > 0;
  }

  /** Turns the errors at the path into warnings, as its entry is not used, and adds the consequence. */
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
