// The name of a protocol method is written in two places: in the method table, and in the era that has it. Everything else reads the table, so that
// a method is added in one row, and no list of names is forgotten.
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, it } from 'vitest';
import { methodsWhere } from '../../src/kernel/methods.ts';
import { read, sourceFiles } from '../helpers/files.ts';

const HOMES = /^src\/(?:kernel\/methods\.ts$|mcp\/eras\/)/;

/** Sentences for people, which name a method as they would name a key. */
const MENTIONS: Record<string, string> = {
  'src/kernel/base/error-table.ts': 'says what to do about an error, and imports nothing',
  'src/config/check/schema.ts': 'gives examples in the description of a key',
};

const METHODS: readonly string[] = methodsWhere(() => true);
/** Words that also mean something else: they are method names where something is compared with `method`, or becomes it. */
const WORDS = METHODS.filter((method) => /^\w+$/.test(method));
const PATHS = METHODS.filter((method) => !WORDS.includes(method));
/** Also finds a method that has no row yet. */
const LIKE_A_METHOD =
  /^(?:(?:completion|elicitation|logging|notifications|prompts|resources|roots|sampling|skills|subscriptions|tasks|tools)\/[a-z][\w/]*|interaction\.[a-z]\w*)$/;
const MAY_NAME =
  /\b(?:completion|elicitation|logging|notifications|prompts|resources|roots|sampling|server|skills|subscriptions|tasks|tools)\/[a-z]|\binteraction\.[a-z]/;
const WORD = new RegExp(
  `\\bmethod(?:\\)|:| [!=]==)? '(?:${WORDS.join('|')})'|InternalExchange\\('(?:${WORDS.join('|')})'`,
);

describe('names of protocol methods', () => {
  it('the search finds names of methods where they are written', () => {
    expect(namesIn(read('src/kernel/methods.ts'))).toEqual(expect.arrayContaining(PATHS));
    expect(
      namesIn("const one = `call ${CALL_TOOL} or tools/invoke`, two = { 'tools/list': 1 }; // prompts/get"),
    ).toEqual(['tools/list']);
    expect(
      namesIn("type Row = { method: 'tasks/get' }; send('Use interaction.getState first'); send('tasks/new')"),
    ).toEqual(['tasks/get', 'Use interaction.getState first', 'tasks/new']);
    expect("exchange.method === 'ping'").toMatch(WORD);
  });

  it('names of methods are written in the method table and in the eras, nowhere else', () => {
    const others = sourceFiles().filter((path) => !HOMES.test(path) && !(path in MENTIONS));
    const found = others.flatMap((path) => {
      const code = read(path);
      const words = WORD.exec(code) ?? [];
      return [...namesIn(code), ...words].map((name) => `${path}: ${name}`);
    });
    expect(found).toEqual([]);
  });

  it('only files that have to mention names of methods', () => {
    expect(Object.keys(MENTIONS).filter((path) => namesIn(read(path)).length === 0)).toEqual([]);
  });
});

/** Strings and templates that are or contain the name of a method. */
function namesIn(code: string): string[] {
  const found: string[] = [];
  if (!MAY_NAME.test(code)) return found; // most files, which need not be parsed
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (typeof node !== 'object' || node === null) return;
    const { type, value } = node as { type?: string; value?: unknown };
    if (type === 'ImportDeclaration' || (type === 'ExportNamedDeclaration' && (node as { source?: unknown }).source))
      return;
    if (type === 'Literal' && typeof value === 'string') found.push(...(isName(value) ? [value] : []));
    if (type === 'TemplateElement') {
      const { cooked } = value as { cooked: string };
      if (isName(cooked)) found.push(cooked);
    }
    Object.values(node).forEach(visit);
  };
  visit(parseAst(code, { lang: 'ts' }).body);
  return found;
}

function isName(text: string): boolean {
  return LIKE_A_METHOD.test(text) || PATHS.some((method) => text.includes(method));
}
