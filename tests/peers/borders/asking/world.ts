// One gateway before servers of both official SDKs, on stdio and HTTP, and clients that come and go. Every call has a tag with
// the name of its client, and all messages of the servers for that call carry it, so that a wrong delivery is detected.
import { fileURLToPath } from 'node:url';
import { createGateway, createLog } from '../../../../src/_entries/index.ts';
import type { Gateway, ServerEntry } from '../../../../src/_entries/index.ts';
import { startHttp } from '../../../helpers/fixture-server.ts';
import type { HttpFixture } from '../../../helpers/fixture-server.ts';
import { until, within } from '../../../helpers/until.ts';
import { Director } from '../director.ts';
import { connectGuest } from './guests.ts';
import type { Answer, Guest, GuestOptions, Told } from './guests.ts';
import { askingProcesses } from './processes.ts';

/** Of each tool that asks: the gateway remembers which do, so each schedule has others that it does not know yet. */
const COPIES = 100;
const PROGRAM = fileURLToPath(new URL('../servers/asks.mjs', import.meta.url));

export const SERVERS = ['v1-stdio', 'v2-stdio', 'v1-http', 'v2-http'] as const;
export const TOOLS = ['report', 'pay', 'book', 'roots', 'log'] as const;
export type Tool = (typeof TOOLS)[number];

/** Clients by their names; the number that is added counts how often they have come. */
export const GUESTS: Record<string, GuestOptions> = {
  alice: { sdk: 'v1', isAskable: false },
  bob: { sdk: 'v2', isAskable: false },
  carol: { sdk: 'v1', isAskable: false },
  dave: { sdk: 'v1', isAskable: true },
  erin: { sdk: 'v2', isAskable: true },
  frank: { sdk: 'v2, 2026-07-28', isAskable: true },
};

export interface Call {
  tag: string;
  step: string;
  guest: Guest;
  controller: AbortController;
  isSettled: boolean;
  done: Promise<void>;
}

interface Question {
  guest: Guest;
  answer(isGone?: boolean): void;
}

/** A call is given up by the gateway after this time. */
const TIMEOUT_MS = 3000;
export const LIMITS = { maxProcesses: 16, maxPool: 4, ownIdleMs: 3000, parkedMs: 10_000, sessionIdleMs: 20_000 };

export class World implements AsyncDisposable {
  readonly problems: string[] = [];
  readonly counts: Record<string, number> = {};
  calls: Call[] = [];
  questions: Question[] = [];
  /** Questions are answered at once. */
  isClosing = false;
  readonly #director: Director;
  readonly #gateway: Gateway;
  readonly #url: string;
  readonly #https: HttpFixture[];
  readonly #guests = new Map<string, Promise<Guest>>();
  readonly #opened = new Set<string>();
  /** What became of the calls, by their tags. */
  readonly #fates = new Map<string, string>();
  #visits = 0;
  #calls = 0;
  #schedule = 0;

  constructor(director: Director, gateway: Gateway, url: string, https: HttpFixture[]) {
    this.#director = director;
    this.#gateway = gateway;
    this.#url = url;
    this.#https = https;
    director.passes = (step) => step.endsWith(' answered') || this.#opened.has(step);
  }

  static async start(): Promise<World> {
    const director = await Director.start();
    const servers: Record<string, ServerEntry> = {};
    const https: HttpFixture[] = [];
    for (const name of SERVERS) {
      const [sdk, transport] = name.split('-') as [string, string];
      const command = { command: process.execPath, args: [PROGRAM, sdk, transport, director.url, `${COPIES}`] };
      const http = transport === 'http' ? await startHttp(command) : undefined;
      if (http) https.push(http);
      servers[name] = { server: http?.url ?? command, era: 'handshake', timeoutMs: TIMEOUT_MS };
    }
    const gateway = createGateway({
      servers,
      ask: { channels: ['relay'] },
      log: createLog({ level: 'silent' }),
      startMs: 60_000,
      limits: LIMITS,
    });
    const { url } = await gateway.listen({ port: 0, host: '127.0.0.1' });
    return new World(director, gateway, url, https);
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** The client of a name, which comes if it is not there. */
  guest(name: string): Promise<Guest> {
    let guest = this.#guests.get(name);
    if (!guest) {
      const visit = `${name}${++this.#visits}`;
      this.#guests.set(name, (guest = this.#connect(visit, GUESTS[name])));
    }
    return guest;
  }

  async leave(name: string, how: 'vanish' | 'end'): Promise<void> {
    const guest = await this.#guests.get(name);
    if (!guest) return;
    this.#guests.delete(name);
    this.count(`clients that left: ${how}`);
    for (const question of this.questions.filter((one) => one.guest === guest)) question.answer(true);
    await within(`${guest.name} to leave`, guest.leave(how));
  }

  call(guest: Guest, server: string, tool: Tool, { isHeld = false, timeout = 120_000 } = {}): Call {
    const tag = `${guest.name}-${++this.#calls}`;
    const name = tool === 'pay' || tool === 'book' ? `${tool}-${this.#schedule % COPIES}` : tool;
    const step = `${name} ${tag}`;
    if (!isHeld) this.#opened.add(step);
    const controller = new AbortController();
    const call: Call = { tag, step, guest, controller, isSettled: false, done: Promise.resolve() };
    const told = guest.call(
      `${server}__${name}`,
      { who: tag },
      {
        timeout,
        signal: controller.signal,
        onprogress: ({ message = '' }) => {
          if (!message.startsWith('progress of')) return; // SDK v2 reports some of its own
          this.count('progress');
          this.#inspect(guest, 'progress', message);
          if (!message.includes(tag)) this.problems.push(`the progress of ${tag} said “${message}”`);
        },
      },
    );
    this.#fates.set(tag, `${server}: under way`);
    const done = told
      .then((one) => {
        this.#fates.set(tag, `${server}: a result`);
        return this.#receive(call, tool, one);
      })
      .catch((error: Error) => {
        this.#inspect(guest, 'an error', error.message);
        this.#fates.set(tag, `${server}: ${error.message}`);
        this.count(`calls that failed: ${reasonOf(error.message)}`);
      });
    call.done = within(`the call ${step} at ${server}`, done)
      .catch((error: Error) => void this.problems.push(error.message))
      .finally(() => (call.isSettled = true));
    this.count('calls');
    this.calls.push(call);
    return call;
  }

  /** Lets the tool of a call go on, now or when it starts. */
  release({ step }: Call): void {
    this.#opened.add(step);
    this.#director.go(step);
  }

  /** Waits until the tool of a call is at work, or the call is over. */
  async reached(call: Call): Promise<void> {
    await until(call.step, () => call.isSettled || this.#director.heard.some(({ step }) => step === call.step));
  }

  /** Ends the schedule: what is under way ends too, except calls that the gateway is to give up. */
  async settle(lingering: Set<Call>): Promise<void> {
    const calls = this.calls.filter((call) => !lingering.has(call));
    this.#schedule++;
    this.calls = [];
    this.isClosing = true;
    for (const call of calls) this.release(call);
    for (const question of this.questions) question.answer();
    await Promise.all(calls.map(({ done }) => done));
    this.isClosing = false;
  }

  /** Every question was answered or refused, unless its server is gone, and each answer is the one of the right client. */
  async checkServers(): Promise<void> {
    const { heard } = this.#director;
    this.isClosing = true;
    for (const question of this.questions) question.answer();
    for (const { step, pid } of heard.filter((one) => /^(pay|book)\S* \S+$/.test(one.step))) {
      const answer = () => heard.find((one) => one.step === `${step} answered`);
      const isOver = () => answer() !== undefined || !isAlive(pid);
      const fate = this.#fates.get(step.split(' ')[1]);
      await until(`an answer to ${step} (${fate})`, isOver).catch((error: Error) => this.problems.push(error.message));
      const about = answer()?.about ?? '';
      const pin = /"pin":"([^"]*)"/.exec(about)?.[1];
      if (pin !== undefined && !step.endsWith(` ${pin}`)) this.problems.push(`${step} was answered for ${pin}`);
      this.count(
        `questions ${pin !== undefined ? 'answered' : about ? 'refused or declined' : 'of servers that ended'}`,
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#director[Symbol.asyncDispose]();
    await within('the gateway to close', this.#gateway.close());
    for (const http of this.#https) await http.stop();
    await until('all processes to end', () => askingProcesses().length === 0);
  }

  async leaveAll(): Promise<void> {
    for (const name of this.#guests.keys()) await this.leave(name, 'end');
  }

  async #connect(name: string, options: GuestOptions): Promise<Guest> {
    const guest: Promise<Guest> = connectGuest(this.#url, name, options, {
      onAsk: async (message) => {
        const one = await guest;
        this.#inspect(one, 'a question', message);
        this.count('questions put to clients that can be asked');
        const isGone = await this.#question(one);
        return isGone ? { action: 'decline' } : toAnswer(message);
      },
      onNotification: (notification) =>
        void guest.then((one) => {
          this.count('notifications');
          this.#inspect(one, 'a notification', JSON.stringify(notification));
        }),
    });
    return within(`${name} to connect`, guest);
  }

  async #receive(call: Call, tool: Tool, told: Told): Promise<void> {
    const { guest, tag } = call;
    this.#inspect(guest, `the result of ${tag}`, told.text);
    if (told.handle !== undefined) {
      this.count('questions put in results');
      if (!told.text.includes(tag)) this.problems.push(`${tag} was asked “${told.text}”`);
      if (await this.#question(guest)) return;
      const { content } = toAnswer(told.text);
      const next = await guest.call('parley_answer', { handle: told.handle, answer: content });
      return this.#receive(call, tool, next);
    }
    if (told.isError) return this.count(`results that say: ${reasonOf(told.text)}`);
    if (tool !== 'roots' && !told.text.includes(tag)) this.problems.push(`${tag} got “${told.text}”`);
    this.count(/refused/.test(told.text) ? 'results with a refused question' : 'results');
  }

  /** Resolves when it is to be answered; with true if its client has left. */
  #question(guest: Guest): Promise<boolean> {
    if (this.isClosing) return Promise.resolve(false);
    return new Promise((resolve) => {
      const question: Question = {
        guest,
        answer: (isGone = false) => {
          this.questions = this.questions.filter((one) => one !== question);
          resolve(isGone);
        },
      };
      this.questions.push(question);
    });
  }

  /** Whatever reaches a client names this client, or nobody. */
  #inspect(guest: Guest, what: string, text: string): void {
    for (const [tag, name] of text.matchAll(/\b((?:alice|bob|carol|dave|erin|frank)\d+)(?:-\d+)?\b/g)) {
      const fate = () => this.#fates.get(tag) ?? 'no call';
      if (name !== guest.name) this.problems.push(`${guest.name} was sent ${what} of ${name} (${fate()}): ${text}`);
    }
  }
}

function toAnswer(question: string): Answer {
  return { action: 'accept', content: { pin: /the card of ([a-z]+\d+-\d+)/.exec(question)?.[1] ?? 'nobody' } };
}

function reasonOf(message: string): string {
  return message.replaceAll(/\b[a-z]+\d+-\d+\b/g, '…').slice(0, 90);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
