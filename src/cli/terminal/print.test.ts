import { describe, expect, it } from 'vitest';
import { createPrinter } from './print.ts';

function toOutput(isTTY: boolean): { isTTY: boolean; written: string; write(text: string): void } {
  return {
    isTTY,
    written: '',
    write(text) {
      this.written += text;
    },
  };
}

describe('a printer', () => {
  it('colours for a terminal only', () => {
    const printed = (isTTY: boolean) => {
      const out = toOutput(isTTY);
      const print = createPrinter({ out, env: {} });
      print.line(`${print.style('bold', 'x')} ${print.style('red', 'y')}`);
      return out.written;
    };
    expect(printed(true)).toBe('\u001B[1mx\u001B[22m \u001B[31my\u001B[39m\n');
    expect(printed(false)).toBe('x y\n');
  });

  it('respects NO_COLOR, when it is not empty, and dumb terminals', () => {
    const styled = (env: Record<string, string>) => createPrinter({ out: toOutput(true), env }).style('dim', 'x');
    expect(styled({ NO_COLOR: '1' })).toBe('x');
    expect(styled({ TERM: 'dumb' })).toBe('x');
    expect(styled({ NO_COLOR: '' })).not.toBe('x');
  });

  it('shows escape sequences that are not its own as text, in every part of a line', () => {
    const [out, err] = [toOutput(true), toOutput(true)];
    const print = createPrinter({ out, err, env: {} });
    const theirs = '\u001B[31mred\u001B[39m\r\u009B1m';
    const shown = '\\u001b[31mred\\u001b[39m\\u000d\\u009b1m';
    print.line(`${theirs} ${print.style('bold', theirs)}`);
    print.note(theirs);
    print.problem(theirs);
    print.content(theirs);
    print.content(Buffer.from(theirs));
    expect(out.written).toBe(
      `${shown} \u001B[1m${shown}\u001B[22m\n${shown}[18 bytes that are not text; send them to a file with >, or use --json]\n`,
    );
    expect(err.written).toBe(`${shown}\nparley: ${shown}\n`);
  });

  it('writes what was asked for as it is where it goes to a file', () => {
    const out = toOutput(false);
    createPrinter({ out, env: {} }).content('a\r\n\u001B[1m');
    expect(out.written).toBe('a\r\n\u001B[1m');
  });

  it('writes lines to stdout and problems to stderr', () => {
    const [out, err] = [toOutput(false), toOutput(false)];
    const print = createPrinter({ out, err, env: {} });
    print.line('one');
    print.line();
    print.problem('two');
    expect([out.written, err.written]).toEqual(['one\n\n', 'parley: two\n']);
  });
});
