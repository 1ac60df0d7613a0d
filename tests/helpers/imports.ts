// The imports between the files of src, as tests of its shape read them.
import { posix } from 'node:path';
import { read, sourceFiles } from './files.ts';

export interface Import {
  from: string;
  to: string;
}

export function importsOf(files: readonly string[] = sourceFiles()): Import[] {
  return files.flatMap((from) =>
    [...read(from).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => ({
      from,
      to: posix.join(posix.dirname(from), match[1]!),
    })),
  );
}
