// `parley completion`: a script for the shell, written from the table of commands.
import type { Shell } from '../command.ts';
import { toBash, toFish, toZsh } from '../completion-scripts.ts';
import type { Printer } from '../print.ts';

const SCRIPTS: Record<Shell, () => string> = { bash: toBash, zsh: toZsh, fish: toFish };

export async function completion({ shell }: { shell: Shell }, print: Printer): Promise<number> {
  print.line(SCRIPTS[shell]());
  return 0;
}
