// The client under test for authorization through the gateway: a client of 2025-11-25 or 2026-07-28 before a gateway, whose server is
// the mock of the suite. The client knows nothing of the login: it is sent to a page of the gateway, as a person with a browser is.
import { connect, createGateway, createLog } from '../../dist/_entries/index.js';
import { authOf } from './auth-of.mjs';

const url = process.argv[2];
const log = createLog({ level: 'error' });
const gateway = createGateway({ servers: { mock: { url, auth: authOf() } }, log });

try {
  await logInAndCall();
  await gateway.close();
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error?.stack ?? error}\n`);
  process.exit(1);
}

async function logInAndCall() {
  const { url: own } = await gateway.listen({ port: 0 });
  const client = await connect(own, {
    log,
    revision: process.env.PARLEY_CLIENT_REVISION,
    elicitUrls: true,
    onElicit: async ({ url: link }) => {
      return { action: (await visit(link)) ? 'accept' : 'cancel' };
    },
  });
  let tools = await client.listTools();
  for (let logins = 0; logins < 3 && tools.some(({ name }) => name === 'login'); logins++) {
    await client.callTool('login', {});
    tools = await client.listTools();
  }
  for (const { name } of tools) await client.callTool(name, {});
  await client.close();
}

/** Presses the button of our page, then follows the mock's redirects with cookies. Resolves with whether the last page is good. */
async function visit(link) {
  const { origin } = new URL(link);
  const pressed = await fetch(link, {
    method: 'POST',
    headers: { origin },
    body: new URLSearchParams('do=continue'),
    redirect: 'manual',
  });
  const cookie = pressed.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
  let next = pressed.headers.get('location');
  let { ok } = pressed;
  for (let hops = 0; next !== null && hops < 10; hops++) {
    const page = await fetch(next, { redirect: 'manual', headers: next.startsWith(origin) ? { cookie } : {} });
    const location = page.headers.get('location');
    next = location === null ? null : new URL(location, next).href;
    ok = page.ok;
    await page.text();
  }
  return ok;
}
