// A test client that calls a flow and answers for its user: in forms, by links, or in results that ask.
import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client';
import type { Client } from '../../sdk/client/client.ts';
import type { ConnectOptions } from '../../sdk/client/types.ts';
import { toForm } from '../../flow/channel/client-form.ts';
import { ANSWER_TOOL } from '../../people/question-text.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { ClientProfile } from './client-profiles.ts';
import type { TestUser, FormResponse } from './test-user.ts';
import type { WatchedStore } from './watched-store.ts';

interface CallingClientOptions {
  how: ClientProfile;
  person: TestUser;
  watched: WatchedStore;
  maxRounds: number;
}

type CallResult = Awaited<ReturnType<Client['callTool']>>;

const HANDLE = 'mcp-parley/handle';

export class CallingClient {
  readonly #asking: CallingClientOptions;
  /** Rounds of the current call. */
  #rounds = 0;

  constructor(asking: CallingClientOptions) {
    this.#asking = asking;
  }

  get client(): ConnectOptions {
    const { revision, shows } = this.#asking.how;
    if (shows.length === 0) return { revision };
    return { revision, elicitUrls: shows.includes('link'), onElicit: (request) => this.#elicited(request) };
  }

  async call(client: Client, tool: string, args: JsonObject): Promise<{ result: unknown; isError: boolean }> {
    const { how, person } = this.#asking;
    let result = await client.callTool(tool, args, how.plays === 'task' ? { task: true } : {});
    for (let handle = handleOf(result); handle !== undefined && !person.problem; handle = handleOf(result)) {
      this.#rounds = 0;
      result = await client.callTool(ANSWER_TOOL, { handle, ...(await this.#held(textOf(result))) });
    }
    if (person.problem) throw person.problem;
    return { result: result.structuredContent ?? textOf(result), isError: result.isError === true };
  }

  /** The client gives up after too many rounds. */
  async #elicited(request: ElicitRequestParams): Promise<ElicitResult> {
    const { person, maxRounds } = this.#asking;
    if (++this.#rounds > maxRounds) throw person.fail(`The client gave up after ${maxRounds} rounds`);
    if (request.mode !== 'url') {
      person.see('form');
      return person.fill(request.requestedSchema, request.message) as ElicitResult;
    }
    await this.#visit(request.url);
    return { action: 'accept' };
  }

  /** Answers a result that asks: by its link if the user can open links, else in the words that a model would relay. */
  async #held(text: string): Promise<JsonObject> {
    const { how, person } = this.#asking;
    const [link] = how.channels.includes('page') ? (/https?:\S+\/ask\S+/.exec(text) ?? []) : [];
    if (link !== undefined) {
      await this.#visit(link);
      return {};
    }
    person.see('model');
    const { message, requestedSchema } = this.#form();
    const filled = person.fill(requestedSchema, message);
    return filled.action === 'accept' ? { answer: filled.content } : { decline: true };
  }

  async #visit(link: string): Promise<void> {
    const { person } = this.#asking;
    person.see('page');
    const { message, requestedSchema } = this.#form();
    await visitPage(link, requestedSchema, person.fill(requestedSchema, message)).catch((thrown: unknown) => {
      throw person.fail((thrown as Error).message);
    });
  }

  #form(): ReturnType<typeof toForm> {
    return toForm(this.#asking.watched.questions);
  }
}

function handleOf({ _meta }: CallResult): string | undefined {
  const handle = _meta?.[HANDLE];
  return typeof handle === 'string' ? handle : undefined;
}

function textOf({ content }: CallResult): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

type Sent = [name: string, value: string | File][];

/** Opens a link as a browser would, and fills in and sends the form of the page over HTTP. */
async function visitPage(link: string, schema: JsonObject, filled: FormResponse): Promise<void> {
  const { cookie } = await post(link, [['do', 'open']]);
  const page = await (await fetch(link, { headers: { cookie } })).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1];
  if (csrf === undefined) throw new Error(`The page shows no form: ${pageText(page)}`);
  const sent: Sent = filled.action === 'accept' ? toInputs(schema, filled.content) : [];
  const { status, body } = await post(link, [['csrf', csrf], ['do', filled.action], ...sent], cookie);
  if (status >= 400) throw new Error(`The page has not taken the answer: ${pageText(body)}`);
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

function pageText(page: string): string {
  return page
    .replace(/<(style|head)[\s\S]*?<\/\1>|<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 400);
}
