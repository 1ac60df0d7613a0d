// What a person does in the browser, by hand: opens the link, ticks the box or does not, and sends the form.
export async function answerOnPage(link, yes) {
  const origin = new URL(link).origin;
  let cookie = '';
  const send = async (fields) => {
    const body = new URLSearchParams(fields);
    const response = await fetch(link, { method: 'POST', body, headers: { origin, cookie }, redirect: 'manual' });
    const [set] = response.headers.getSetCookie();
    if (set) cookie = set.split(';')[0];
    if (response.status !== 303) return response.text();
    return (await fetch(new URL(response.headers.get('location'), link), { headers: { cookie } })).text();
  };
  const form = await send({ do: 'open' });
  const field = (name) => new RegExp(`name="${name}" value="([^"]+)"`).exec(form)?.[1];
  await send({ csrf: field('csrf'), do: yes ? 'accept' : 'decline', ...(yes && { 'q0.0': 'true' }) });
  return form;
}
