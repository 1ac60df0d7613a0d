// A person who answers on the page the questions that no client may show: files, secrets, and questions for a human.
import { FakeBrowser } from '../../../src/people/page/fake-round.contract.ts';
import { refuseIfGone } from './away.ts';
import type { Values } from '../../../src/people/page/fake-round.contract.ts';

interface Upload {
  name: string;
  mimeType: string;
  data: string;
}

/** Fills in and submits the page. Inputs are numbered in the order of the questions. */
export async function answerOnPage(link: string, who: string, inputs: (string | string[] | Upload)[]): Promise<void> {
  const browser = new FakeBrowser();
  browser.headers = { 'x-user': who };
  const values: Values = Object.fromEntries(inputs.map((input, index) => [`q0.${index}`, toSent(input)]));
  const got = await browser.fill(link, values);
  refuseIfGone(got.status);
  if (got.status >= 400) throw new Error(`The page has not taken the answer: ${got.text}`);
}

function toSent(input: string | string[] | Upload): string | string[] | File {
  if (typeof input === 'string' || Array.isArray(input)) return input;
  const { name, mimeType, data } = input;
  return new File([Buffer.from(data, 'base64')], name, { type: mimeType });
}

/** Derives the inputs from the text of a result; options are numbered on the page. */
export function toInputs(text: string, content: Record<string, unknown>): (string | string[] | Upload)[] {
  return Object.entries(content).map(([name, value]) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Upload;
    const kinds = '(?:one of|a list of any of)';
    const [, options] =
      new RegExp(`^- ${name} \\(${kinds} (.*?), (?:minItems .*, )?(?:required|optional)\\)`, 'm').exec(text) ?? [];
    const values = options?.replaceAll(/“[^”]*”/g, '').match(/"[^"]*"/g);
    const toOne = (one: unknown): string => String(values ? values.indexOf(JSON.stringify(one)) : one);
    return Array.isArray(value) ? value.map(toOne) : toOne(value);
  });
}
