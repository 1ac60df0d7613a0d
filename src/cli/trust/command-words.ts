// Which words of a command line, or of a line of a script, are files that something runs. Interpreters take a file of any name for code, so its ending says
// little: `sh ./start.txt`, `node ./server`, `. ./lib.env`. Only a name that programs use for their data (`./notes.db`) is taken for data, and only where no
// interpreter stands in front of it.
import { basename } from 'node:path';

/** A word, and whether it counts as code whatever its ending is. */
interface CommandWord {
  word: string;
  isRun: boolean;
}

/** Programs, and words of shells and of make, that run the file behind them. */
const INTERPRETERS = new Set(
  (
    '. source include -include sinclude exec eval env sh bash dash ash zsh ksh fish busybox pwsh powershell cmd osascript node nodejs deno bun tsx ts-node esno ' +
    'python pypy uv pipx ruby perl php lua luajit java jshell groovy Rscript julia go make gmake just task rake awk gawk sed tclsh wish expect guile racket'
  ).split(' '),
);
/** Options whose value is code, too, so that the program itself is still to come. */
const TAKES_CODE =
  /^(?:-r|-i|-I|-f|-S|-C|-W|-X|-E|--(?:import|require|preload|loader|experimental-loader|env-file(?:-if-exists)?|rcfile|init-file|file|include|config|tsconfig|project|directory))$/;
const DATA = /\.(?:db3?|sqlite3?|json[l5c]?|ndjson|csv|tsv|parquet|log|pid|lock)(?:-(?:wal|shm|journal))?$/i;

/** `exists`: whether a word is a file there. */
export function toCommandWords(line: readonly string[], exists: (word: string) => boolean): CommandWord[] {
  let isArmed = false;
  let before = '';
  const found: CommandWord[] = [];
  for (const word of line) {
    if (isInterpreter(word)) isArmed = true;
    const words = word === '.' && before === '' ? [] : partsOf(word); // `. ./lib` names no folder
    for (const part of words) found.push({ word: part, isRun: isArmed || !DATA.test(part) });
    const isProgram = isArmed && !TAKES_CODE.test(before) && !word.startsWith('-') && words.some(exists);
    if (before === '-m' || (isProgram && !isInterpreter(word))) isArmed = false;
    before = word;
  }
  return found;
}

/** Variables that shells, loaders and interpreters read code from; other variables may name a file of data. */
const LOADS_CODE =
  /^(?:ENV|BASH_ENV|PATH|.*(?:OPT|OPTS|OPTIONS|FLAGS|PRELOAD|STARTUP|COMMAND|ASKPASS|PAGER|EDITOR))$|^(?:LD|DYLD|PYTHON|PERL|RUBY|NODE|GIT|SSH|JAVA|JDK|_JAVA|PHP|LUA|MAKE|NPM|UV)/i;

export function loadsCode(variable: string): boolean {
  return LOADS_CODE.test(variable);
}

/** Of the value of a variable. */
export function toVariableWords(name: string, value: string): CommandWord[] {
  const isCode = loadsCode(name) || /^-|\s/.test(value.trim());
  return partsOf(value).map((word) => ({ word, isRun: isCode || !DATA.test(word) }));
}

/** A file may be part of a longer text: `--import=./hook.mjs`, `sh -c "node x.js"`. */
function partsOf(text: string): string[] {
  return [...new Set([text, ...text.split(/[\s'"`=:;,&|()<>]+/)])].filter((word) => word !== '');
}

/** The commands of a script, or of the argument of `sh -c`: lists of words. Files that output goes to are not run by that. */
export function toScriptLines(text: string): string[][] {
  return text
    .replaceAll(/\\\r?\n/g, ' ')
    .replaceAll(/\d?>>?&?[ \t]*[^\s;&|()<>]+/g, ' ')
    .split(/[\n\r;&|(){}`]+/)
    .map((line) => line.split(/[\s'"=<>,@]+/).filter((word) => word !== ''))
    .filter((line) => line.length > 0);
}

/** How a script may spell a path: `$(dirname "$0")/lib`, `"$HERE/lib"`, `${0%/*}/lib`. */
export function spellingsOfWord(word: string): string[] {
  const rest = word.startsWith('$') || word.startsWith('}') ? word.replace(/^[^/]*\/+/, '') : word.replace(/^\/+/, '');
  return rest === '' || rest === word ? [word] : [word, rest];
}

/** Its name without a version: `python3.12`, `node.exe`. */
export function programOf(word: string): string {
  const name = basename(word).replace(/\.exe$/i, '');
  return INTERPRETERS.has(name) ? name : name.replace(/[-\d.]+$/, '') || name;
}

function isInterpreter(word: string): boolean {
  return word === '.' || (word !== '..' && !word.endsWith('/.') && INTERPRETERS.has(programOf(word)));
}
