// What a person does in the browser, by hand: enters the code of `parley pair` once, opens the link, and says yes or no.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export class Person {
  #cookies = new Map();

  /** `parley pair` shows the code on the operator's terminal. */
  async pair(parley, config, page) {
    const { stdout } = await run(process.execPath, [parley, 'pair', '--config', config, '--json']);
    const { code } = JSON.parse(stdout);
    await this.#send(page, { do: 'pair', code });
    return code;
  }

  /** Answers the first question that waits. Returns what the page showed. */
  async answer(page, yes) {
    const list = await this.#get(page);
    const link = /href="([^"]+\/ask\?t=[^"]+)"/.exec(list)?.[1];
    if (!link) throw new Error('nothing waits for an answer');
    const form = await this.#send(link, { do: 'open' });
    const csrf = /name="csrf" value="([^"]+)"/.exec(form)?.[1];
    await this.#send(link, { csrf, 'q0.0': String(yes) });
    return form;
  }

  async #send(url, fields) {
    const { origin } = new URL(url);
    const headers = { origin, cookie: this.#cookie };
    const response = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers,
      redirect: 'manual',
    });
    for (const set of response.headers.getSetCookie()) {
      const [name, value] = set.split(';')[0].split('=');
      this.#cookies.set(name, value);
    }
    return response.status === 303 ? this.#get(new URL(response.headers.get('location'), url)) : response.text();
  }

  async #get(url) {
    return (await fetch(url, { headers: { cookie: this.#cookie } })).text();
  }

  get #cookie() {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}
