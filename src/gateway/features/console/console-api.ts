// What the pages of the console read and do, as JSON below /console/api. Everything can be read with GET; a program of the operator may read it as well, and
// can change nothing. What changes something is a form that our own page sends.
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { printable } from '../../../kernel/base/visible.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { isOwnOrigin, readPost } from '../../../kernel/net/browser-request.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { secrets } from '../../../kernel/secrets/secrets.ts';
import type { HumanChannel } from '../../../people/human-channel.ts';
import type { GatewayView } from '../feature.ts';
import type { Access } from './access/access.ts';
import type { ReadSettings } from '../../../kernel/config/shown-setting.ts';
import { baseOf } from './enter.ts';
import type { CallRing } from './calls/call-ring.ts';
import { NEEDS_YES } from './calls/needs-yes.ts';
import { toKeptBody } from './calls/bodies.ts';
import { callAsOperator } from './calls/operator-call.ts';
import type { OperatorOutcome } from './calls/operator-call.ts';
import { repeatCall } from './calls/repeat-call.ts';
import type { FlowReply, Flows } from './flows/flows.ts';
import type { LiveStreams, MakeFrame } from './live.ts';
import type { Now } from './now.ts';
import { isFromElsewhere, sendJson } from './replies.ts';
import { toShownSettings } from './settings.ts';
import { findRoute } from './routes.ts';
import type { RouteName } from './routes.ts';
import { OPERATOR_PROGRAM } from './viewers.ts';
import type { Tools } from './tools.ts';
import type { Viewer, Viewers } from './viewers.ts';
import type { AskedCall, judgeWhatIf } from './access/what-if.ts';
import type { AnswerOutcome, WaitingQuestions } from './waiting-questions.ts';

export interface ApiContext {
  readonly people: HumanChannel;
  readonly log: Log;
  readonly viewers: Viewers;
  readonly now: Now;
  readonly questions: WaitingQuestions;
  readonly calls: CallRing;
  readonly tools: Tools;
  readonly flows: Flows;
  readonly accept: GatewayView['accept'];
  readonly gateway: GatewayView;
  readonly access: Access;
  readonly settings: ReadSettings | undefined;
  readonly whatIf: (asked: AskedCall) => ReturnType<typeof judgeWhatIf>;
  readonly live: LiveStreams;
}

interface ApiVisit {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly viewer: Viewer;
  readonly query: URLSearchParams;
  /** Whether the viewer may still look. */
  readonly recheck: () => Promise<Viewer | undefined>;
}

const FORM_BYTES = 256 * 1024;

const ANSWERED: Readonly<Record<AnswerOutcome, { status: number; text: string }>> = {
  taken: { status: 200, text: 'Answered.' },
  'not-yours': { status: 403, text: 'This question is for somebody else.' },
  gone: { status: 409, text: 'This question is no longer open.' },
  'not-here': { status: 422, text: 'This question needs its own page.' },
};

export class ConsoleApi {
  readonly #context: ApiContext;
  /** Of this process: cursors of another one mean nothing here. */
  readonly #run = randomId().replaceAll('-', '');

  constructor(context: ApiContext) {
    this.#context = context;
  }

  /** For browsers: the part of the path before the last one is their key. */
  readonly ofBrowser: HttpHandler = (request, response) => {
    const [key = '', name = ''] = pathOf(request).split('/').slice(-2);
    const recheck = (): Promise<Viewer | undefined> => this.#context.viewers.find(key, request);
    this.#serve(request, response, async () => {
      if (isFromElsewhere(request)) return refuse(request, response, 'This did not come from the console itself.');
      const viewer = await recheck();
      if (!viewer) return sendJson(request, response, 401, { error: 'Nobody is logged in here.' });
      return this.#visit(name, { request, response, viewer, recheck, query: queryOf(request) });
    });
  };

  /** For programs that the port has let in as the operator. */
  readonly ofProgram: HttpHandler = (request, response) => {
    const name = pathOf(request).split('/').at(-1)!;
    const viewer = OPERATOR_PROGRAM;
    this.#serve(request, response, async () => {
      const recheck = async (): Promise<Viewer> => viewer;
      if (request.method === 'POST') return sendJson(request, response, 405, { error: 'GET' });
      return this.#visit(name, { request, response, viewer, recheck, query: queryOf(request) });
    });
  };

  #serve(request: HttpRequest, response: HttpResponse, work: () => Promise<void>): void {
    work().catch((cause: unknown) => {
      if (response.destroyed) return; // the browser hung up
      this.#context.log.error({ cause }, 'console.failed');
      if (!response.headersSent) sendJson(request, response, 500, { error: 'Something went wrong here.' });
      else response.end();
    });
  }

  async #visit(asked: string, visit: ApiVisit): Promise<void> {
    const { request, response, viewer } = visit;
    const { method = 'GET' } = request;
    const found = findRoute(asked);
    if (!found) return sendJson(request, response, 404, { error: 'There is nothing here.' });
    const { name, route } = found;
    if (method !== route.method && !(method === 'HEAD' && route.method === 'GET'))
      return sendJson(request, response, 405, { error: route.method });
    const form = method === 'POST' ? await this.#formOf(visit) : new FormData();
    if (!form) return;
    if (route.isForOperator && viewer.user !== undefined) return refuse(request, response, 'This is for the operator.');
    return this.#routes[name](visit, form);
  }

  readonly #routes: Readonly<Record<RouteName, (visit: ApiVisit, form: FormData) => Promise<void> | void>> = {
    now: async ({ request, response, viewer }) =>
      sendJson(request, response, 200, await this.#context.now.view(viewer, request)),
    calls: ({ request, response, viewer }) => sendJson(request, response, 200, this.#context.calls.all(viewer)),
    call: (visit) => this.#showCall(visit),
    events: (visit) => this.#follow(visit),
    tools: async ({ request, response }) => sendJson(request, response, 200, await this.#context.tools.view()),
    flows: async (visit) => reply(visit, await this.#context.flows.list(visit.query.get('state'), visit.viewer)),
    flow: async (visit) => reply(visit, await this.#context.flows.find(visit.query.get('id') ?? '', visit.viewer)),
    'flow-request': async (visit, form) => reply(visit, await this.#context.flows.act(form, visit.viewer)),
    settings: async ({ request, response }) =>
      sendJson(request, response, 200, await toShownSettings(this.#context.settings)),
    access: async ({ request, response, viewer }) =>
      sendJson(request, response, 200, await this.#context.access.view(viewer)),
    judge: (visit) => this.#judge(visit),
    answer: (visit, form) => this.#answer(form, visit),
    accept: (visit, form) => this.#accept(form, visit),
    try: (visit, form) => this.#try(form, visit),
    repeat: (visit, form) => this.#repeat(form, visit),
    forget: (visit, form) => this.#forget(form, visit),
  };

  /** A browser that was away gets what it has missed; a new one, what follows. */
  #cursorIn({ headers }: HttpRequest): number {
    const [run, seq] = String(headers['last-event-id'] ?? '').split('-');
    return run === this.#run && /^\d{1,15}$/.test(seq ?? '') ? Number(seq) : this.#context.calls.cursor;
  }

  #showCall({ request, response, viewer, query }: ApiVisit): void {
    const found = this.#context.calls.find(query.get('id') ?? '', viewer);
    if (found) sendJson(request, response, 200, found);
    else sendJson(request, response, 404, { error: 'This call is not kept any more.' });
  }

  /** Undefined if it did not come from our own page; that has been said. */
  async #formOf({ request, response }: ApiVisit): Promise<FormData | undefined> {
    const { log } = this.#context;
    const form = await readPost(request, FORM_BYTES);
    if (!isOwnOrigin(request, await baseOf(this.#context, request))) {
      log.warn({ origin: request.headers.origin }, 'console.foreign-origin');
      refuse(request, response, 'This did not come from the console itself.');
    } else if (typeof form === 'string') sendJson(request, response, 415, { error: 'This is not a form.' });
    else return form;
    return undefined;
  }

  async #answer(form: FormData, { request, response, viewer }: ApiVisit): Promise<void> {
    const { status, text } = ANSWERED[await this.#context.questions.answer(form, viewer, request)];
    sendJson(request, response, status, status === 200 ? {} : { error: text });
  }

  async #accept(form: FormData, { request, response }: ApiVisit): Promise<void> {
    const text = (name: string): string => String(form.get(name));
    const wanted = { server: text('server'), area: text('area'), name: text('name'), digests: text('digests') };
    if (await this.#context.accept(wanted)) return sendJson(request, response, 200, {});
    sendJson(request, response, 409, { error: 'It has changed again. Look once more.' });
  }

  async #repeat(form: FormData, { request, response, viewer }: ApiVisit): Promise<void> {
    const { calls, gateway, log } = this.#context;
    const view = calls.find(String(form.get('id')), viewer);
    if (!view) return sendJson(request, response, 404, { error: 'This call is not kept any more.' });
    const done = await repeatCall(view, { gateway, isConfirmed: form.get('confirmed') === 'yes' });
    log.info({ server: view.row.server, tool: view.row.name, by: viewer.name }, 'console.repeated');
    sendOutcome({ request, response }, done);
  }

  /** A tool is tried with arguments that the operator has filled in. */
  async #try(form: FormData, { request, response, viewer }: ApiVisit): Promise<void> {
    const { gateway, log } = this.#context;
    const [server, tool] = [String(form.get('server')), String(form.get('tool'))];
    const args = readArguments(String(form.get('args')));
    if (typeof args === 'string') return sendJson(request, response, 422, { error: args });
    const isConfirmed = form.get('confirmed') === 'yes';
    const done = await callAsOperator({ server, names: [tool], args }, { gateway, isConfirmed });
    log.info({ server, tool, by: viewer.name }, 'console.tried');
    sendOutcome({ request, response }, done);
  }

  async #judge({ request, response, query }: ApiVisit): Promise<void> {
    const [caller, server, tool, args] = ['caller', 'server', 'tool', 'args'].map((name) => query.get(name) ?? '');
    const found = await this.#context.whatIf({ caller: caller!, server: server!, tool: tool!, args: args! });
    if (typeof found === 'string') sendJson(request, response, 422, { error: found });
    else sendJson(request, response, 200, found);
  }

  async #forget(form: FormData, { request, response }: ApiVisit): Promise<void> {
    if (await this.#context.access.forget(String(form.get('name')))) return sendJson(request, response, 200, {});
    sendJson(request, response, 409, { error: 'This browser is not paired any more.' });
  }

  #follow({ request, response, recheck }: ApiVisit): void {
    const { live, now, calls } = this.#context;
    if (live.isFull) {
      const { message } = new GatewayError('TOO_MANY', { what: 'browsers that watch the console', limit: 100 });
      return sendJson(request, response, 503, { error: message });
    }
    let cursor = this.#cursorIn(request);
    const make = async (): ReturnType<MakeFrame> => {
      const viewer = await recheck();
      if (!viewer) return undefined;
      const view = JSON.stringify(await now.view(viewer, request));
      const rows = calls.since(cursor, viewer);
      cursor = calls.cursor;
      const minutes = rows.length > 0 ? calls.minutesFor(viewer) : [];
      const id = `${this.#run}-${cursor}`;
      return {
        now: { text: view },
        calls: rows.length > 0 ? { text: JSON.stringify({ rows, minutes }), id } : undefined,
      };
    };
    live.open(response, make, request);
  }
}

function reply({ request, response }: ApiVisit, { status, body }: FlowReply): void {
  sendJson(request, response, status, body);
}

/** A result is cut, and without the secrets that are known, as that of any call here. */
function sendOutcome({ request, response }: Pick<ApiVisit, 'request' | 'response'>, done: OperatorOutcome): void {
  if (done === 'needs-yes') return sendJson(request, response, 428, { error: NEEDS_YES });
  if (done === 'running') return sendJson(request, response, 200, { outcome: 'running' });
  if ('problem' in done) return sendJson(request, response, 422, { error: printable(secrets.mask(done.problem)) });
  sendJson(request, response, 200, { outcome: 'done', ...toKeptBody(done.result) });
}

/** A text says what is wrong with them. */
function readArguments(text: string): JsonObject | string {
  try {
    const args: unknown = JSON.parse(text);
    return isObject(args) ? args : 'Arguments are an object.';
  } catch {
    return 'The arguments are not JSON.';
  }
}

function refuse(request: HttpRequest, response: HttpResponse, error: string): void {
  sendJson(request, response, 403, { error });
}

function pathOf({ url = '' }: HttpRequest): string {
  return url.split('?', 1)[0]!;
}

function queryOf({ url = '' }: HttpRequest): URLSearchParams {
  return new URL(url, 'http://localhost').searchParams;
}
