import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseConfig } from './parse-config.ts';
import { parseJson, ConfigSyntaxError } from './parse-json.ts';
import { SourcePositions } from '../check/config-problems.ts';

describe('JSON', () => {
  it('is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(0, 2, '\t'), (text, indent) => {
        const written = JSON.stringify(JSON.parse(text), undefined, indent);
        expect(parseJson(written, new SourcePositions(written)).value).toEqual(JSON.parse(written));
      }),
    );
  });

  it('may have comments and trailing commas anywhere between', () => {
    const text =
      '// first\n{ /* a */ "a" /**/ : [1, /* two */ 2,], // end\n "b": "// no /* comment */", }\n/* last */ // line';
    expect(parseJson(text, new SourcePositions(text)).value).toEqual({ a: [1, 2], b: '// no /* comment */' });
  });

  it('keeps "__proto__" as a key like any other', () => {
    const { value } = parseJson('{ "__proto__": { "x": 1 } }', new SourcePositions(''));
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it('never fails but with a reason', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', '/', '*', '1', 'a', '\n') }),
        (text) => {
          try {
            parseJson(text, new SourcePositions(text));
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(ConfigSyntaxError);
          }
        },
      ),
    );
  });

  it.each([
    ['{ "a": 1 "b": 2 }', '"," or "}" is missing here', 10],
    ['{ a: 1 }', 'a key is missing here', 3],
    ["{ 'a': 1 }", 'a key is missing here', 3],
    ['{ "a" 1 }', '":" is missing after "a"', 7],
    ['{ "a": }', 'a value is missing here', 8],
    ['{ "a": yes }', 'this is not a value', 8],
    ['{ "a": 01 }', '"," or "}" is missing here', 9],
    ['{ "a": 0x1 }', 'this is not a value', 9],
    ['{ "a": [1 2] }', '"," or "]" is missing here', 11],
    ['{ "a": "\\q" }', 'this text has a character that JSON does not allow', 9],
    ['{ "a": "\\u12g4" }', 'this text has a character that JSON does not allow', 9],
    ['\uFEFF{ "a": }', 'a value is missing here', 9],
    ['{ "a": "b', 'this text has no end', 8],
    ['{ "a": [1', 'the file ends before its "]"', 10],
    ['{ "a": 1', 'the file ends before its "}"', 9],
    ['{ "a": 1,', 'the file ends before its "}"', 10],
    ['{} {}', 'something follows the end of the object', 4],
    ['{ "a": {} } x', 'something follows the end of the object', 13],
    [`${'{ "a": '.repeat(70)}1${'}'.repeat(70)}`, 'this is nested too deep', 456],
    ['['.repeat(100_000), 'this is nested too deep', 1],
    ['{ /* "a": 1 }', 'this comment has no end', 3],
  ])('%s: %s', (text, message, column) => {
    const [problem] = parseConfig(text, 'a.json').problems.list;
    expect(problem).toMatchObject({ message, line: 1, column });
  });
});

describe('YAML', () => {
  it('knows where everything stands', () => {
    const { value, places } = parseConfig('servers:\n  a:\n    args:\n      - x\n      - y\n', 'a.yml');
    expect(value).toEqual({ servers: { a: { args: ['x', 'y'] } } });
    expect(places.find(['servers', 'a', 'args', 1])).toEqual({ line: 5, column: 9 });
    expect(places.find(['servers', 'a'], 'key')).toEqual({ line: 2, column: 3 });
  });

  it('says where it cannot be read, and why', () => {
    const [problem] = parseConfig('servers:\n  a: 1\n  a: 2\n', 'a.yaml').problems.list;
    expect(problem).toMatchObject({
      line: 3,
      column: 3,
      message: 'map keys must be unique',
      hint: 'Keep one of the two.',
    });
  });

  it('does not let aliases grow out of hand', () => {
    const levels = 'abcdefghi'
      .split('')
      .map((name, index, all) => `${name}: &${name} [${`*${all[index - 1]},`.repeat(9)}]`);
    const bomb = ['z: &z [x]', ...levels].join('\n').replace('*undefined', '*z').replaceAll('*undefined', '*z');
    expect(parseConfig(bomb, 'a.yaml').problems.list[0]?.message).toContain('alias');
  });
});

describe('a text whose name does not say what it is', () => {
  it('is told by its first character', () => {
    expect(parseConfig(' { "a": 1, }', 'config').value).toEqual({ a: 1 });
    expect(parseConfig('a: 1', 'config').value).toEqual({ a: 1 });
  });
});
