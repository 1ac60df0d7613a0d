// A fetch with cookies, as a browser has them.
export function createCookieFetch() {
  const jar = new Map();
  return async (input, options = {}) => {
    const { host } = new URL(input instanceof Request ? input.url : input);
    const cookies = jar.get(host) ?? jar.set(host, new Map()).get(host);
    const headers = new Headers(input instanceof Request ? input.headers : undefined);
    for (const [name, value] of new Headers(options.headers)) headers.set(name, value);
    if (cookies.size > 0) headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(input, { ...options, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
}

/** Follows redirects to the end; returns the last page. */
export async function browse(link) {
  const open = createCookieFetch();
  let url = link;
  for (let hops = 0; hops < 20; hops++) {
    const response = await open(url, { redirect: 'manual' });
    const next = response.headers.get('location');
    if (next === null) return response.text();
    url = new URL(next, url).href;
  }
  throw new Error('too many redirects');
}
