import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import type { QuestionRound } from '../../question-round.ts';
import { fakeRound, formRound } from '../fake-round.contract.ts';
import { readForm } from '../read-form.ts';
import { renderForm } from './render-form.ts';
import { toSections } from './sections.ts';
import { wordsFor } from '../locales/page-words.ts';

const TRICK = `"><script>alert(1)</script><img src=x onerror='x'>&amp;\u202e`;

async function render(round: QuestionRound, posted?: Record<string, string>, language?: string): Promise<string> {
  const form = new FormData();
  for (const [name, value] of Object.entries(posted ?? {})) form.append(name, value);
  const sections = toSections(round);
  const { filled } = (posted ? await readForm(sections, form) : {}) as { filled?: never };
  const page = renderForm({ round, sections, filled, token: 't0k', csrf: 'c', minutes: 9, words: wordsFor(language) });
  return page
    .replaceAll(/ +/g, ' ')
    .replaceAll(/ ?\n ?(?=<)|(?<=>) ?\n ?(?=\S)/g, '')
    .replaceAll(/ ?\/?>/g, '>');
}

const field = (schema: JsonObject, required = true) => render(formRound({ it: schema }, required ? ['it'] : []));

describe('a server’s text', () => {
  it('a server’s text is escaped everywhere and cannot change the direction of other text', async () => {
    const about = { tool: TRICK, server: TRICK, client: TRICK };
    const option = { const: TRICK, title: TRICK };
    const many = Array.from({ length: 9 }, (_, index) => `${TRICK}${index}`);
    const properties = Object.fromEntries(
      [
        { type: 'string', default: TRICK },
        { type: 'string', default: `${TRICK}\n` },
        { type: 'string', format: 'email', default: TRICK },
        { type: 'string', format: 'date', default: TRICK },
        { type: 'string', format: 'date-time', default: TRICK },
        { type: 'string', format: 'password', default: TRICK },
        { type: 'number', default: TRICK },
        { type: 'boolean', default: TRICK },
        { oneOf: [option], default: TRICK },
        { enum: many },
        { type: 'array', items: { anyOf: [option] }, default: [TRICK] },
        { type: 'object', 'x-parley': 'file', accept: TRICK },
        { type: 'object', default: { [TRICK]: TRICK } },
      ].map((schema, index) => [`${TRICK}${index}`, { ...schema, title: TRICK, description: TRICK }]),
    );
    const requestedSchema = { type: 'object', properties, required: Object.keys(properties) };
    const round = fakeRound(
      {
        [TRICK]: { message: TRICK, requestedSchema },
        url: { mode: 'url', message: TRICK, url: `https://x.example/${TRICK}` },
      },
      { about },
    );
    const pages = [
      await render(round),
      await render(round, { 'q0.0': TRICK, 'q0.1': TRICK, 'q0.12': TRICK, 'q0.4.zone': TRICK }),
    ];
    for (const page of pages) {
      expect(page).toContain('&lt;script&gt;');
      expect(page).not.toMatch(/<script|<img|onerror='/);
      expect(page.replaceAll(/ (?:value|accept)="[^"]*"|<textarea[^<]*/g, '')).not.toContain('\u202e');
      expect(
        page.match(
          /<(?!\/?(?:html|head|meta|title|link|style|body|main|header|footer|h1|h2|p|strong|span|div|form|input|section|label|fieldset|legend|select|option|textarea|button|ul|li|a|bdi|code|details|summary)\b|!doctype)/,
        ),
      ).toBeNull();
    }
  });

  it('a server’s text is shortened if too long', async () => {
    const long = '<'.repeat(2_000_000);
    const page = await render(
      fakeRound({
        only: {
          message: long,
          requestedSchema: {
            properties: { [long]: { type: 'string', title: long, description: long, default: long } },
          },
        },
      }),
    );
    expect(page.length).toBeLessThan(200_000);
    expect(page).toContain('too long to be shown');
  });

  it('a server’s text with too many fields or options is not shown, and the question can only be declined', async () => {
    const fields = Object.fromEntries(Array.from({ length: 151 }, (_, index) => [`f${index}`, { type: 'string' }]));
    for (const round of [formRound(fields), formRound({ it: { enum: [...Array(2001).keys()] } })]) {
      const page = await render(round);
      expect(page).toContain('You can only decline it');
      expect(page).not.toContain('value="accept"');
    }
  });
});

describe('a field', () => {
  it('a field has a label, a hint and its default', async () => {
    const page = await field({
      type: 'string',
      title: 'Name',
      description: 'As on your passport',
      maxLength: 20,
      default: 'Ada',
    });
    expect(page).toContain('<label for="q0.0"><span dir="auto">Name</span></label>');
    expect(page).toContain('id="q0.0-about"><span class="text" dir="auto">As on your passport</span></p>');
    expect(page).toContain('At most 20 characters.');
    expect(page).toMatch(
      /<input\s+type="text"\s+id="q0.0"\s+name="q0.0"\s+aria-describedby="q0.0-about q0.0-hint"\s+aria-required="true"\s+value="Ada"/,
    );
  });

  it('says when it is optional', async () => {
    expect(await field({ type: 'string' }, false)).toContain('(optional)');
    expect(await field({ type: 'string' })).not.toContain('(optional)');
  });

  it('keeps the first line break of a long text', async () => {
    expect(await field({ type: 'string', default: '\none\ntwo' })).toMatch(/<textarea[^>]*>\n\none\ntwo<\/textarea>/);
  });

  it('a field is a list for many options and radio buttons for few', async () => {
    const few = await field({ enum: ['a', 'b'], default: 'b' }, false);
    expect(few).toMatch(/type="radio"\s+name="q0.0"\s+value="1"\s+checked/);
    expect(few).toContain('No answer');
    const many = await field({ enum: 'abcdefgh'.split(''), default: 'c' });
    expect(many).toMatch(/<option value="2" selected>\s*c<\/option>/);
    expect(many).not.toContain('type="radio"');
  });

  it('a field with a time has a time zone', async () => {
    const page = await field({ type: 'string', format: 'date-time', default: '2027-01-31T12:30:15.5+05:30' });
    expect(page).toContain('value="2027-01-31T12:30"');
    expect(page).toContain('<option value="+05:30" selected>');
  });

  it('never shows a secret or a file again', async () => {
    const round = formRound({
      key: { type: 'string', format: 'password', default: 'd3fault', minLength: 30 },
      n: { type: 'number' },
    });
    const page = await render(round, { 'q0.0': 'hunter2', 'q0.1': 'none' });
    expect(page).not.toMatch(/hunter2|d3fault/);
    expect(page).toContain('Secrets and files have to be entered again.');
    expect(page).toMatch(/type="password"[^>]*autocomplete="new-password"/);
  });
});

describe('a single yes or no', () => {
  const schema = { type: 'boolean', title: 'Allow this call', description: 'Once' };

  it('a single yes or no has its answers as buttons, neither preselected', async () => {
    const round = formRound({ allow: schema });
    const page = await render(round);
    expect(page).toContain('Allow this call');
    expect(page).toMatch(
      /<button id="q0.0" name="q0.0" value="true" class="primary">Yes<\/button\s*><button name="q0.0" value="false">/,
    );
    expect(page).not.toMatch(/type="radio"|value="accept"|value="decline"/);
    const form = new FormData();
    form.append('q0.0', 'false');
    const answers = { only: { action: 'accept', content: { allow: false } } };
    expect(await readForm(toSections(round), form)).toEqual({ answers });
    expect(await render(round, { do: 'accept' })).toContain('<a href="#q0.0"><bdi>Allow this call</bdi>');
  });

  it('beside others, with a default or when it is optional is a field', async () => {
    const rounds = [
      formRound({ allow: schema, more: schema }),
      formRound({ allow: { ...schema, default: true } }),
      formRound({ allow: schema }, []),
    ];
    for (const round of rounds) expect(await render(round)).toContain('type="radio"');
  });
});

describe('a problem', () => {
  it('a problem is listed at the top with links and shown beside its field with the entry', async () => {
    const round = formRound({
      name: { type: 'string', title: 'Name' },
      age: { type: 'integer', title: 'Age', minimum: 18 },
    });
    const page = await render(round, { 'q0.0': '', 'q0.1': '<17>' });
    expect(page).toContain('<title>Error: A question for you</title>');
    expect(page).toContain('There are 2 problems with your answers');
    expect(page).toContain('<a href="#q0.0"><bdi>Name</bdi>: This needs an answer.</a>');
    expect(page).toMatch(/id="q0.1"[^>]*aria-invalid="true"[^>]*value="&lt;17&gt;"/);
    expect(page).toContain('id="q0.1-error"');
    expect(page).toMatch(/role="alert"[^>]*tabindex="-1"[^>]*autofocus/);
  });
});

describe('a question on another website', () => {
  const url = (address: string, others: Record<string, JsonObject> = {}) =>
    fakeRound({ url: { mode: 'url', message: 'Sign in', url: address, elicitationId: '1' }, ...others });

  it('shows where the link leads, and asks whether it is done', async () => {
    const page = await render(url('https://xn--pple-43d.example/login?x=1'));
    expect(page).toContain('<bdi>xn--pple-43d.example</bdi>');
    expect(page).toMatch(
      /href="https:\/\/xn--pple-43d.example\/login\?x=1"\s+target="_blank"\s+rel="noopener noreferrer"/,
    );
    expect(page).toMatch(/value="accept" class="primary">\s*I have done it/);
    expect(await render(url('https://аpple.example'))).toContain('<bdi>xn--pple-43d.example</bdi>');
  });

  it('beside others has a checkbox', async () => {
    const round = url('https://x.example', { form: { message: 'And?', requestedSchema: {} } });
    expect(await render(round)).toContain('name="q0.done"');
    expect(await render(round, { do: 'accept' })).toContain('<a href="#q0.done">');
  });

  it('a question on another website with a bad address is declined, and the others can be answered', async () => {
    const requestedSchema = { type: 'object', properties: { it: { type: 'string' } } };
    const round = url('javascript:x', { form: { message: 'And?', requestedSchema } });
    expect(await render(round)).toContain('value="accept"');
    const form = new FormData();
    form.append('q1.0', 'yes');
    expect(await readForm(toSections(round), form)).toEqual({
      answers: { url: { action: 'decline' }, form: { action: 'accept', content: { it: 'yes' } } },
    });
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'https://good.example@evil.example',
    'nonsense',
  ])('is not a link if it is %s', async (address) => {
    const page = await render(url(address));
    expect(page).not.toContain('<a class="go"');
    expect(page).toContain('not offered as a link');
    expect(page).not.toContain('value="accept"');
  });
});

describe('several questions', () => {
  it('several questions are sections of one form, each of which may be skipped', async () => {
    const requestedSchema = { type: 'object', properties: { it: { type: 'string' } }, required: ['it'] };
    const round = fakeRound({ a: { message: 'First?', requestedSchema }, b: { message: 'Second?', requestedSchema } });
    const page = await render(round);
    expect(page).toContain('2 questions for you');
    expect(page).toContain('Question 2 of 2');
    expect(page.match(/<form/g)).toHaveLength(1);
    const form = new FormData();
    form.append('q0.0', 'one');
    form.append('q1.skip', 'on');
    expect(await readForm(toSections(round), form)).toEqual({
      answers: { a: { action: 'accept', content: { it: 'one' } }, b: { action: 'decline' } },
    });
  });
});

describe('the language', () => {
  it('the language is the supported one that the browser prefers', async () => {
    const langs = [
      'de-AT,en;q=0.5',
      'ja, fr;q=0.3, es;q=0.8',
      'ja',
      '',
      undefined,
      'en;q=0, de;q=0.1',
      'constructor',
      ';;,q=x',
    ];
    expect(langs.map((one) => wordsFor(one).lang)).toEqual(['de', 'es', 'en', 'en', 'en', 'de', 'en', 'en']);
    const page = await render(formRound({ it: { type: 'boolean' } }), {}, 'de');
    expect(page).toContain('<html lang="de">');
    expect(page).toContain('Hier fehlt eine Antwort.');
  });

  it('the language has all texts and placeholders', async () => {
    const names = (sentence: string) => [...sentence.matchAll(/\{\w+\}/g)].map(String).sort();
    const en = wordsFor('en');
    for (const language of ['de', 'fr', 'es']) {
      const words = wordsFor(language);
      for (const [key, sentence] of Object.entries(en)) {
        if (typeof sentence !== 'string') continue;
        const ours = words[key as 'title'];
        expect([key, names(ours)]).toEqual([key, names(sentence)]);
        if (!['lang', 'no', 'errorPrefix'].includes(key)) expect([language, ours]).not.toEqual([language, sentence]);
      }
    }
  });
});
