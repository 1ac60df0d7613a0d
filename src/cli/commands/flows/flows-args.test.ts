// The command line of `parley flows`, and what is typed for a question.
import { describe, expect, it } from 'vitest';
import type { Question } from '../../../flow/question/question.ts';
import { readArgs } from '../../args/args.ts';
import { parseTypedAnswer } from '../../terminal/typed-answer.ts';
import { formatValue, formatAge, wrapText } from './format.ts';
import { toTimeline } from './show-session.ts';

function reasonFor(...words: string[]): string {
  const command = readArgs(['flows', ...words]);
  return command.name === 'mistake' ? command.reason : `no mistake: ${JSON.stringify(command)}`;
}

describe('parley flows', () => {
  it('lists open sessions unless it is told otherwise', () => {
    const open = ['waiting', 'working', 'parked', 'ending'];
    expect(readArgs(['flows', 'ls'])).toMatchObject({ action: 'ls', states: open, limit: 50, waitMs: undefined });
    const some = ['--state', 'parked', '--state', 'failed', '--older', '2h', '--newer', '3d', '--limit', '5'];
    expect(readArgs(['flows', 'ls', ...some])).toMatchObject({
      states: ['parked', 'failed'],
      olderMs: 72e5,
      newerMs: 2592e5,
      limit: 5,
    });
    expect(readArgs(['flows', 'ls', '--state', 'all'])).toMatchObject({ states: undefined });
  });

  it('says what it does not understand', () => {
    expect(reasonFor()).toBe('Say what to do: ls, show, answer, cancel, retry, replay.');
    expect(reasonFor('shwo', 'x')).toContain('Did you mean "show"?');
    expect(reasonFor('show')).toContain('Name the session.');
    expect(reasonFor('ls', 'x')).toContain('takes no further words');
    expect(reasonFor('cancel', 'x', 'y')).toContain('takes no further words');
    expect(reasonFor('answer', 'x', 'two', 'words')).toContain('in quotes');
    expect(reasonFor('replay')).toContain('--against FILE');
    expect(reasonFor('ls', '--older', 'soon')).toContain('such as 30s, 5m, 2h or 1d');
    expect(reasonFor('ls', '--limit', '0')).toContain('from 1 to 10000');
    expect(reasonFor('ls', '--state', 'stuck')).toContain('--state must be one of');
  });

  it('takes the name of a variable and never a key', () => {
    expect(readArgs(['flows', 'ls', '--file-key', 'FLOW_KEY'])).toMatchObject({ fileKey: 'FLOW_KEY' });
    const reason = reasonFor('ls', '--seal-key', 'aGVsbG8gd29ybGQ=');
    expect(reason).toBe('--seal-key takes the name of an environment variable, not the key itself.');
  });
});

describe('what is typed', () => {
  const question = (kind: Question['kind'], prompt: object = {}) => ({ kind, prompt }) as Question;
  const choices = [
    { value: 1, label: 'One' },
    { value: 'two', label: 'Two' },
  ];

  it.each<[string, Question, unknown]>([
    ['Yes', question('confirm'), true],
    ['n', question('confirm'), false],
    ['maybe', question('confirm'), 'maybe'],
    ['3.5', question('number'), 3.5],
    ['three', question('number'), 'three'],
    ['42', question('text'), '42'],
    ['', question('text'), undefined],
    ['One', question('choice', { choices }), 1],
    ['two', question('choice', { choices }), 'two'],
    ['1, Two', question('choices', { choices }), [1, 'two']],
    ['{"a": 1}', question('form'), { a: 1 }],
  ])('%j is what its question is for', (text, asked, value) => {
    expect(parseTypedAnswer(asked, text)).toEqual(value);
  });
});

describe('what is shown', () => {
  it('what is shown has no secrets, and nothing that a terminal obeys', () => {
    const secret = { $secret: 'name of the sealed bytes' };
    expect(formatValue({ pass: secret, token: 'abc', note: 'a\u001B]0;title\u0007\u202Eb' })).toBe(
      '{"pass":"(secret)","token":"(not shown)","note":"a\\u001b]0;title\\u0007\\u{202e}b"}',
    );
    expect(formatValue({ name: 'a.txt', mimeType: 'text/plain', size: 3, sha256: 'x' })).toBe(
      '"(file a.txt, text/plain, 3 bytes)"',
    );
    expect(formatValue('x'.repeat(1000))).toHaveLength(301);
  });

  it('says in a timeline what is of a newer Parley, and on which day', () => {
    const entries = [
      { t: 'end', why: 'cancelled', ts: 86_399_000 },
      { t: 'later', k: 'x', more: 1, ts: 86_400_000 },
    ];
    expect(toTimeline(entries as never)).toEqual([
      ['1970-01-01'],
      ['23:59:59', 'end', '', 'cancelled'],
      ['1970-01-02'],
      ['00:00:00', 'later', 'x', '{"more":1}'],
    ]);
  });

  it('names the person who has answered, where that is not the user', () => {
    const answer = { t: 'ans', k: 'ok', a: 1, ty: 'confirm', v: true, src: 'human', via: 'page', ts: 0 };
    const texts = (entry: object, isBare: boolean) => toTimeline([entry as never], isBare).map((line) => line.at(-1));
    expect(texts({ ...answer, who: 'boss' }, false)).toContain('true (boss, by the page)');
    expect(texts({ ...answer, who: 'boss' }, true)).toContain('answered (boss, by the page)');
    expect(texts({ ...answer, who: 'boss', src: 'model' }, false)).toContain('true (the model of boss, by the page)');
    expect(texts(answer, false)).toContain('true (the user, by the page)');
  });

  it('what is shown is as long as the terminal is wide', () => {
    expect(wrapText('one two three four five six', 20)).toEqual(['one two three four', 'five six']);
    expect(wrapText('x'.repeat(45), 20)).toEqual(['x'.repeat(20), 'x'.repeat(20), 'xxxxx']);
    expect([59, 60, 3600, 86_400].map((seconds) => formatAge(seconds * 1000))).toEqual(['59s', '1m', '1h', '1d']);
  });
});
