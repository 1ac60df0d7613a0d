// The position of each key and value in the text of a configuration, for problems.
export type ConfigPath = readonly (string | number)[];

export interface SourcePosition {
  /** Both start at 1. */
  line: number;
  column: number;
}

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
