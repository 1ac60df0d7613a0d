// A test client that calls a flow and answers for its user: in forms, by links, or in results that ask.
import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client';
import type { Client } from '../../client/client.ts';
import type { ConnectOptions } from '../../client/types.ts';
import { toForm } from '../../flow/channel/client-form.ts';
import { ANSWER_TOOL } from '../../gateway/ask/answer-tool.ts';
import type { JsonObject } from '../../protocol/message.ts';
import type { ClientProfile } from './client-profiles.ts';
import type { TestUser } from './test-user.ts';
import { visitPage } from './visit-page.ts';
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
