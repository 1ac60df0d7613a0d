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
    expect(createPrinter({ out: toOutput(true), env: {} }).style('bold', 'x')).toBe('\u001B[1mx\u001B[22m');
    expect(createPrinter({ out: toOutput(false), env: {} }).style('bold', 'x')).toBe('x');
  });

  it('respects NO_COLOR, when it is not empty, and dumb terminals', () => {
    const styled = (env: Record<string, string>) => createPrinter({ out: toOutput(true), env }).style('dim', 'x');
    expect(styled({ NO_COLOR: '1' })).toBe('x');
    expect(styled({ TERM: 'dumb' })).toBe('x');
    expect(styled({ NO_COLOR: '' })).not.toBe('x');
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
