// A browser for logins at servers: keeps cookies, follows redirects, and presses the button of our login page.
import { expect } from 'vitest';

export interface LoginPage {
  status: number;
  url: string;
  text: string;
}

export class LoginBrowser {
  readonly #cookies = new Map<string, string>();

  /** `person`: who they are at the authorization server. */
  constructor(person?: string) {
    if (person !== undefined) this.#cookies.set('person', person);
  }

  /** The address of the page that a redirect leads to, without following further. */
  async visit(
    url: string,
    init: Pick<RequestInit, 'method' | 'body'> & { headers?: Record<string, string> } = {},
  ): Promise<LoginPage & { next: string | undefined }> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    const location = response.headers.get('location');
    const next = location === null ? undefined : new URL(location, url).href;
    return { status: response.status, url, text: await response.text(), next };
  }

  /** Presses the button of our page, and returns the link to the authorization server. */
  async goOn(link: string): Promise<string> {
    const origin = new URL(link).origin;
    const shown = await this.visit(link);
    expect(shown).toMatchObject({ status: 200, text: expect.stringContaining('Continue') });
    const pressed = await this.visit(link, {
      method: 'POST',
      headers: { origin },
      body: new URLSearchParams('do=continue'),
    });
    expect(pressed).toMatchObject({ status: 303, next: expect.any(String) });
    return pressed.next!;
  }

  /** Follows redirects until one leads to `until`, which is returned unvisited, or to a page that leads nowhere. */
  async follow(from: string, until = /^$/): Promise<LoginPage> {
    let page: LoginPage & { next: string | undefined } = { status: 0, url: '', text: '', next: from };
    for (let hops = 0; hops < 20; hops++) {
      if (page.next === undefined || until.test(page.next)) return { ...page, url: page.next ?? page.url };
      page = await this.visit(page.next);
    }
    throw new Error('too many redirects');
  }

  /** The whole login. */
  async logIn(link: string): Promise<LoginPage> {
    return this.follow(await this.goOn(link));
  }
}
