// Collects the problems of a configuration, with their positions in its text. A problem never has a value, which may be a secret.

export type ConfigPath = readonly (string | number)[];

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
  /** Its file, if several were put together. */
  file?: string | undefined;
}

interface SourcePosition {
  /** Both start at 1. */
  line: number;
  column: number;
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

/** The position of each key and value in the text of a configuration. */
export class SourcePositions {
  readonly #text: string;
  readonly #keys = new Map<string, number>();
  readonly #values = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
  }

  noteKey(path: ConfigPath, offset: number): void {
    this.#keys.set(toPathId(path), offset);
  }

  noteValue(path: ConfigPath, offset: number): void {
    this.#values.set(toPathId(path), offset);
  }

  /** The position of the key or of the value; if it is missing, that of its parent. */
  find(path: ConfigPath, what: 'key' | 'value' = 'value'): SourcePosition | undefined {
    const id = toPathId(path);
    const offset = what === 'key' ? (this.#keys.get(id) ?? this.#values.get(id)) : this.#values.get(id);
    if (offset !== undefined) return this.at(offset);
    return path.length === 0 ? undefined : this.find(path.slice(0, -1), 'key');
  }

  /** Makes the positions below `from` available below `to`, except where `to` has its own. */
  copy(from: ConfigPath, to: ConfigPath): void {
    const [start, target] = [from, to].map((path) => toPathId(path).slice(0, -1)) as [string, string];
    for (const noted of [this.#keys, this.#values]) {
      for (const [id, offset] of noted) {
        if (!id.startsWith(start) || !/^[,\]]/.test(id.slice(start.length))) continue;
        const copied = target + id.slice(start.length);
        if (!noted.has(copied)) noted.set(copied, offset);
      }
    }
  }

  at(offset: number): SourcePosition {
    const before = this.#text.slice(0, offset).split(/\r\n|\r|\n/);
    return { line: before.length, column: before.at(-1)!.length + 1 };
  }
}

/** Formats a path as in code: `mcpServers.files.args[0]`. */
export function formatPath(path: ConfigPath): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    if (!/^[\w$-]+$/.test(key)) return `${text}[${JSON.stringify(key)}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

/** A string that keeps 1 apart from "1". */
export function toPathId(path: ConfigPath): string {
  return JSON.stringify(path);
}
