// Test helpers: a round, and a minimal browser that keeps cookies and submits forms.
import type { JsonObject } from '../../kernel/message.ts';
import type { RoundAnswer, QuestionRound } from '../question-round.ts';

export interface FakeRound extends QuestionRound {
  answers: Record<string, RoundAnswer> | undefined;
  by: string | undefined;
  isOpen: boolean;
}

export function fakeRound(questions: Record<string, JsonObject>, changes: Partial<QuestionRound> = {}): FakeRound {
  return {
    handle: `h${Math.random().toString(36).slice(2)}`,
    principal: 'ada',
    questions: Object.entries(questions).map(([key, params]) => ({
      key,
      ask: { method: 'elicitation/create', params },
    })),
    about: { tool: 'book_flight', server: 'travel', client: 'Claude' },
    expiresAt: Date.now() + 600_000,
    isOpen: true,
    answers: undefined,
    by: undefined,
    ...changes,
    answer(answers, by) {
      if (!this.isOpen) return false;
      this.isOpen = false;
      Object.assign(this, { answers, by });
      return true;
    },
  };
}

/** One question with one form. */
export function formRound(properties: JsonObject, required: string[] = Object.keys(properties)): FakeRound {
  return fakeRound({
    only: { message: 'What shall it be?', requestedSchema: { type: 'object', properties, required } },
  });
}

interface Got {
  status: number;
  text: string;
  headers: Headers;
}

/** Form values by input name. */
export type Values = Record<string, string | File | string[]>;

export class FakeBrowser {
  readonly cookies = new Map<string, string>();
  /** Extra request headers. */
  headers: Record<string, string> = {};

  async get(url: string, init: RequestInit = {}): Promise<Got> {
    const headers = { ...this.headers, cookie: this.#cookie(), ...(init.headers as Record<string, string>) };
    const response = await fetch(url, { redirect: 'manual', ...init, headers });
    for (const set of response.headers.getSetCookie()) {
      const [name, value] = set.split(';')[0]!.split('=') as [string, string];
      this.cookies.set(name, value);
    }
    const got = { status: response.status, text: await response.text(), headers: response.headers };
    const location = response.headers.get('location');
    return response.status === 303 && init.redirect === undefined ? this.get(new URL(location!, url).href) : got;
  }

  post(url: string, body: Values | FormData, init: RequestInit = {}): Promise<Got> {
    const headers = { origin: new URL(url).origin, ...(init.headers as Record<string, string>) };
    return this.get(url, { method: 'POST', body: body instanceof FormData ? body : toBody(body), ...init, headers });
  }

  /** Continues from the first page to the form. */
  open(url: string): Promise<Got> {
    return this.post(url, { do: 'open' });
  }

  /** Opens the link and submits the form with these values. Files are uploaded. */
  async fill(url: string, values: Values, action = 'accept'): Promise<Got> {
    const { text } = await this.open(url);
    return this.post(url, { csrf: csrfOf(text), do: action, ...values });
  }

  #cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

export function csrfOf(page: string): string {
  return /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
}

/** Encodes as a browser does: multipart if there are files. */
function toBody(values: Values): URLSearchParams | FormData {
  const all = Object.entries(values).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const));
  const form = new FormData();
  for (const [name, one] of all) form.append(name, one);
  if (all.some(([, one]) => typeof one !== 'string')) return form;
  return new URLSearchParams(all as [string, string][]);
}
