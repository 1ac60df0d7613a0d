// Opens a link as a browser would, and fills in and sends the form of the page over HTTP.
import { isObject } from '../../protocol/message.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { FormResponse } from './test-user.ts';

type Sent = [name: string, value: string | File][];

export async function visitPage(link: string, schema: JsonObject, filled: FormResponse): Promise<void> {
  const { cookie } = await post(link, [['do', 'open']]);
  const page = await (await fetch(link, { headers: { cookie } })).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1];
  if (csrf === undefined) throw new Error(`The page shows no form: ${textOf(page)}`);
  const sent: Sent = filled.action === 'accept' ? toInputs(schema, filled.content) : [];
  const { status, body } = await post(link, [['csrf', csrf], ['do', filled.action], ...sent], cookie);
  if (status >= 400) throw new Error(`The page has not taken the answer: ${textOf(body)}`);
}

async function post(
  link: string,
  fields: Sent,
  cookie = '',
): Promise<{ status: number; body: string; cookie: string }> {
  const hasFile = fields.some(([, value]) => value instanceof File);
  const body = hasFile ? new FormData() : new URLSearchParams();
  for (const [name, value] of fields) body.append(name, value as string);
  const headers = { cookie, origin: new URL(link).origin };
  const response = await fetch(link, { method: 'POST', redirect: 'manual', body, headers });
  const cookies = response.headers.getSetCookie().map((set) => set.split(';')[0]!);
  return { status: response.status, body: await response.text(), cookie: cookies.join('; ') };
}

/** Inputs and options of the page are numbered in the order of the form. */
function toInputs({ properties }: JsonObject, content: JsonObject): Sent {
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, field], index) =>
    content[name] === undefined ? [] : toInput(`q0.${index}`, field as JsonObject, content[name]),
  );
}

function toInput(name: string, { oneOf, items }: JsonObject, value: unknown): Sent {
  const options = oneOf ?? (isObject(items) ? items.anyOf : undefined);
  if (Array.isArray(options)) {
    const numbers = [value]
      .flat()
      .map((one) => options.findIndex((option) => isObject(option) && option.const === one));
    return numbers.map((number) => [name, String(number)]);
  }
  if (!isObject(value)) return [[name, String(value)]];
  const bytes = Buffer.from(String(value.data), 'base64');
  return [[name, new File([bytes], String(value.name), { type: String(value.mimeType) })]];
}

function textOf(page: string): string {
  return page
    .replace(/<(style|head)[\s\S]*?<\/\1>|<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 400);
}
