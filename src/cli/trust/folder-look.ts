// Whether files are there, for one search through many names: each folder is listed once. Names are compared without regard to case, as some file systems do;
// then the file itself is looked at.
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';

export class FolderLook {
  readonly #names = new Map<string, ReadonlySet<string> | undefined>();
  readonly #stems = new Map<string, ReadonlySet<string> | undefined>();

  isFile(path: string): boolean {
    if (this.#list(dirname(path))?.has(folded(basename(path))) === false) return false;
    try {
      return statSync(path).isFile();
    } catch {
      return false;
    }
  }

  /** Whether something of this name may be there, with any ending. Quick: a script has many words, and few are files. */
  hasStem(path: string): boolean {
    const folder = dirname(path);
    if (!this.#stems.has(folder) && !this.#mayHave(folder)) return false;
    if (!this.#stems.has(folder)) this.#stems.set(folder, stemsOf(this.#list(folder)));
    const stems = this.#stems.get(folder);
    const name = folded(basename(path));
    return stems === undefined || stems.has(name) || stems.has(name.replace(/\.[^.]*$/, ''));
  }

  isFolder(path: string): boolean {
    try {
      return this.#mayHave(path) && statSync(path).isDirectory();
    } catch {
      return false;
    }
  }

  /** Asks the folders above, which are few, and not the disk. */
  #mayHave(folder: string): boolean {
    const above = dirname(folder);
    if (above === folder || this.#names.has(folder)) return true;
    return this.#mayHave(above) && this.#list(above)?.has(folded(basename(folder))) !== false;
  }

  /** Undefined if it may have files that cannot be listed. */
  #list(folder: string): ReadonlySet<string> | undefined {
    if (!this.#names.has(folder)) this.#names.set(folder, namesIn(folder));
    return this.#names.get(folder);
  }
}

/** Each name, and what it begins with, up to each of its dots. */
function stemsOf(names: ReadonlySet<string> | undefined): ReadonlySet<string> | undefined {
  if (!names) return undefined;
  const found = new Set<string>();
  for (const name of names) {
    found.add(name);
    for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) found.add(name.slice(0, dot));
  }
  return found;
}

function namesIn(folder: string): ReadonlySet<string> | undefined {
  try {
    return new Set(readdirSync(folder).map(folded));
  } catch (thrown) {
    return /^(?:ENOENT|ENOTDIR)$/.test(String((thrown as NodeJS.ErrnoException).code)) ? new Set() : undefined;
  }
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
