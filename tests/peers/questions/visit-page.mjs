// A person at the page of a question, without a browser: opens the link that a result names, and presses its button.
import assert from 'node:assert/strict';

/** Answers the question in URL mode whose link is in this text. */
export async function visitPage(text) {
  const [link] = /http:\/\/127\.0\.0\.1:\d+\/ask\?t=\S+/.exec(text) ?? assert.fail(`no link to the page in ${text}`);
  const { origin } = new URL(link);
  const post = (body, cookie) =>
    fetch(link, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin, ...(cookie && { cookie }) },
      body: new URLSearchParams(body),
    });
  const opened = await post({ do: 'open' });
  const cookie = opened.headers.getSetCookie()[0].split(';')[0];
  const page = await (await fetch(link, { headers: { cookie } })).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)[1];
  const answered = await post({ do: 'accept', csrf }, cookie);
  assert.equal(answered.status, 303);
  return page;
}
