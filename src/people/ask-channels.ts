// The channels by which a gateway asks people whose clients cannot be asked: a web page, the client's model, and
// stand-ins.
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { Ask, ClientView, Exchange } from '../kernel/exchange.ts';
import { isForPageOnly } from '../kernel/form/schema-field.ts';
import type { JsonObject } from '../kernel/message.ts';
import { CALL_TOOL, ELICIT_INPUT, LIST_ROOTS, SAMPLE_MESSAGE } from '../kernel/methods.ts';
import type { Clock } from '../kernel/base/clock.ts';
import { DEFAULT_LIMITS } from '../kernel/base/limits.ts';
import type { Limits } from '../kernel/base/limits.ts';
import type { Nodes } from '../kernel/nodes/nodes.ts';
import type { Log } from '../kernel/base/log.ts';
import { HeldRounds } from './held-rounds.ts';
import { HumanCheck } from './human-check.ts';
import type { QuestionRound } from './question-round.ts';
import { createSampler } from './model/sample.ts';
import type { SamplerOptions } from './model/sample.ts';
import { toPersonText, toQuestionText } from './question-text.ts';
import { isForHuman } from './trust/answer-trust.ts';
import type { IdentifyPerson, NotifyPerson, AnswerTrust, TrustOption } from './trust/answer-trust.ts';
import type { StandIn } from './stand-in.ts';

export type Channel = 'page' | 'relay';

/** Stand-ins answer questions for clients that cannot: from the configuration, or with the operator's model. */
interface StandIns {
  [SAMPLE_MESSAGE]?: StandIn | undefined;
  [LIST_ROOTS]?: StandIn | undefined;
}

export interface GatewayAskOptions {
  /** The channels for people whose clients cannot be asked; an empty list turns them off. Default: all. */
  channels?: readonly Channel[] | undefined;
  /**
   * The clients whose forms count as human approval, for approvals and questions that only a human may answer: `stdio`, `key:NAME`,
   * `user:NAME`. Anybody else answers on the page, in a browser that is paired. `all` believes every client and everyone who has the
   * link. Default: `['stdio']`.
   */
  trust?: TrustOption | undefined;
  /** Shows the person where a question waits that only a person may answer. The log has the link in any case. */
  notify?: NotifyPerson | undefined;
  /** Who is logged in at the page, by something that browsers send and models do not have. Default: browsers are paired. */
  identifyPerson?: IdentifyPerson | undefined;
  /** The model that answers sampling requests for clients without sampling. */
  model?: Omit<SamplerOptions, 'log' | 'clock'> | undefined;
  /** Further stand-ins for clients that cannot answer, by method. */
  standIns?: StandIns | undefined;
}

interface AskChannelsOptions extends Pick<GatewayAskOptions, 'channels' | 'model' | 'standIns'> {
  nodes?: Nodes | undefined;
  answerTrust: AnswerTrust;
  /** The web page for answers. */
  page?: PageLinks | undefined;
  clock: Clock;
  limits?: Partial<Limits> | undefined;
  log: Log;
}

type ChangingWays = Pick<AskChannelsOptions, 'channels' | 'model' | 'standIns'>;

interface AskWays {
  readonly hasPage: boolean;
  readonly hasRelay: boolean;
  readonly standIns: StandIns;
}

interface PageLinks {
  /** Whether the user's browser can reach it. */
  readonly isReachable: boolean;
  link(round: QuestionRound): Promise<string>;
}

const ALL_CHANNELS: readonly Channel[] = ['page', 'relay'];
const URL_ASK: Ask = { method: ELICIT_INPUT, params: { mode: 'url' } };

export class AskChannels {
  readonly rounds: HeldRounds;
  readonly humanCheck: HumanCheck;
  readonly answerTrust: AnswerTrust;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: Log;
  readonly #page: PageLinks | undefined;
  #ways: AskWays;
  /** Shared by all clients that lack the same capabilities, so that derived values are memoized once. */
  readonly #assisted: ClientCapabilities[] = [];

  constructor({ channels, model, standIns, page, answerTrust, clock, limits, log, nodes }: AskChannelsOptions) {
    this.answerTrust = answerTrust;
    this.clock = clock;
    this.humanCheck = new HumanCheck(clock);
    this.limits = { ...DEFAULT_LIMITS, ...limits };
    this.log = log;
    this.#page = page;
    this.#ways = this.#toWays({ channels, model, standIns });
    this.rounds = new HeldRounds(this.limits, clock, nodes?.mark);
  }

  /** Calls that wait for an answer go on. Throws BAD_OPTION, and then nothing changes. */
  replace(options: ChangingWays): void {
    this.#ways = this.#toWays(options);
  }

  /** Goes back to what it was. */
  checkpoint(): () => void {
    const ways = this.#ways;
    return () => {
      this.#ways = ways;
    };
  }

  #toWays({ channels = ALL_CHANNELS, model, standIns }: ChangingWays): AskWays {
    const { log, clock } = this;
    const sampler = model && { [SAMPLE_MESSAGE]: createSampler({ ...model, log, clock }) };
    return {
      hasPage: channels.includes('page'),
      hasRelay: channels.includes('relay'),
      standIns: { ...sampler, ...standIns },
    };
  }

  /** Whether any channel is available. */
  get areAny(): boolean {
    return this.#ways.hasRelay || this.hasPage;
  }

  /** The link to a round's page; undefined if browsers cannot reach the page. */
  async link(round: QuestionRound): Promise<string | undefined> {
    return this.hasPage ? this.#page!.link(round) : undefined;
  }

  /** The capabilities that the gateway provides for a client that has not declared them; undefined if none. */
  assistedFor({ capabilities }: Pick<ClientView, 'capabilities'>): ClientCapabilities | undefined {
    const elicitation = !capabilities.elicitation && this.areAny;
    const sampling = !capabilities.sampling && this.#ways.standIns[SAMPLE_MESSAGE] !== undefined;
    const roots = !capabilities.roots && this.#ways.standIns[LIST_ROOTS] !== undefined;
    const url = elicitation && this.hasPage;
    const kind = Number(elicitation) + 2 * Number(sampling) + 4 * Number(roots) + 8 * Number(url);
    if (kind === 0) return undefined;
    return (this.#assisted[kind] ??= {
      ...(elicitation && { elicitation: { form: {}, ...(url && { url: {} }) } }),
      ...(sampling && { sampling: { tools: {} } }),
      ...(roots && { roots: { listChanged: true } }),
    });
  }

  /** A client that declared the capability answers itself. */
  standInFor({ method }: Ask, { assisted }: ClientView): StandIn | undefined {
    if (method === SAMPLE_MESSAGE) return assisted?.sampling && this.#ways.standIns[method];
    return method === LIST_ROOTS && assisted?.roots ? this.#ways.standIns[method] : undefined;
  }

  /** Whether a page or the model can ask the question. A question for a human is never answered by a model. */
  canAsk(ask: Ask, { method: during }: Pick<Exchange, 'method'>): boolean {
    if (ask.method !== ELICIT_INPUT || during !== CALL_TOOL) return false;
    return this.hasPage || (this.#ways.hasRelay && !isKeptFromModels(ask));
  }

  /** Whether there is a page that browsers can reach. */
  get hasPage(): boolean {
    return this.#ways.hasPage && this.#page?.isReachable === true;
  }

  canOpenPage(exchange: Exchange): boolean {
    return this.hasPage && exchange.canAsk(URL_ASK);
  }

  /** The round as a tool result for the model. */
  async words(round: QuestionRound, problem?: string): Promise<JsonObject> {
    if (this.#isForPerson(round)) {
      // The page of all questions, which names none of them, and only to callers who can log in there.
      const page = this.answerTrust.canLogIn(round.user)
        ? (await this.link(round))?.replace(/(\/ask)(?:\/[^/?]*)?\?.*$/, '$1')
        : undefined;
      return toPersonText(round, { page, hasChanges: this.takesChanges(round) }, problem);
    }
    const link = round.waitsFor === undefined ? await this.link(round) : undefined;
    const ways = { link, hasRelay: this.takesWords(round), hasChanges: this.takesChanges(round) };
    return toQuestionText(round, ways, problem);
  }

  /** Tells the person where the question waits, if a model must not get the link. */
  tellPerson(round: QuestionRound): void {
    if (!this.#isForPerson(round)) return;
    const tell = async (): Promise<void> => {
      const link = await this.link(round);
      if (link !== undefined) await this.answerTrust.tell(round, link);
    };
    tell().catch((error: unknown) => this.log.warn({ error }, 'ask.person-not-told'));
  }

  #isForPerson(round: QuestionRound): boolean {
    return this.answerTrust.isStrict && isForHuman(round);
  }

  /** Whether the model may pass on the answers of this round. */
  takesWords(round: Pick<QuestionRound, 'questions'>): boolean {
    return this.#ways.hasRelay && !round.questions.some(({ ask }) => isKeptFromModels(ask));
  }

  /** Whether the model may pass on changes of earlier answers. */
  takesChanges({ questions: [first, ...others] }: Pick<QuestionRound, 'questions'>): boolean {
    return this.#ways.hasRelay && others.length === 0 && first?.ask.revisable === true;
  }
}

/**
 * What only a person may say: that they agree to visit an address, too. And secrets and files, which a server may ask for by their schema. At an
 * address of the gateway itself, the visit counts and not the answer.
 */
function isKeptFromModels({ human, page, ofGateway, params }: Ask): boolean {
  const isVisit = params?.mode === 'url' && ofGateway !== true;
  return human === true || page === true || isVisit || isForPageOnly(params?.requestedSchema);
}
