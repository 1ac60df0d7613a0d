// The console of one gateway: its pages, loaded when somebody opens the first of them, and what they show.
import type { HttpHandler } from '../../../kernel/base/http.ts';
import type { GatewayContext, GatewayView } from '../feature.ts';
import type { ReadSettings } from '../../../kernel/config/shown-setting.ts';
import { Access } from './access/access.ts';
import { ConsoleApi } from './console-api.ts';
import { enter } from './enter.ts';
import { LiveStreams } from './live.ts';
import type { CallRing } from './calls/call-ring.ts';
import type { ConnectedClients } from './connected-clients.ts';
import type { FlowDesk } from '../../../kernel/flow/flow-desk.ts';
import { Flows } from './flows/flows.ts';
import type { PassingFlows } from './flows/passing-flows.ts';
import { Now } from './now.ts';
import { Tools } from './tools.ts';
import { Viewers } from './viewers.ts';
import { WaitingQuestions } from './waiting-questions.ts';
import { judgeWhatIf } from './access/what-if.ts';
import type { AskedCall } from './access/what-if.ts';

export interface ConsoleSources {
  readonly context: GatewayContext;
  readonly name: string;
  readonly clients: ConnectedClients;
  readonly calls: CallRing;
  readonly settings: ReadSettings | undefined;
  readonly flows: PassingFlows;
  readonly flowSessions: FlowDesk | undefined;
}

export interface OpenConsole {
  readonly ofBrowser: HttpHandler;
  readonly ofProgram: HttpHandler;
  readonly enter: HttpHandler;
  close(): void;
}

export function openConsole(sources: ConsoleSources): OpenConsole {
  const { context, name, clients, calls, settings, flows: passing, flowSessions: stored } = sources;
  const { people, log, clock } = context;
  const viewers = new Viewers(people.proof);
  const questions = new WaitingQuestions(people, log);
  const live = new LiveStreams({ clock, log, onWatched: (isWatched) => calls.look(isWatched) });
  calls.onChange = () => live.touch();
  const now = new Now({ context, name, clients, questions });
  const tools = new Tools({ context, calls });
  const flows = new Flows({ stored, passing, look: { peopleLogIn: context.login !== undefined }, log });
  const stopWatching = people.watchCalls(() => live.touch());
  const accept: GatewayView['accept'] = (shown) => context.gateway.accept(shown);
  const access = new Access({ context, clients });
  const whatIf = (asked: AskedCall) => judgeWhatIf(asked, { context, clients });
  const parts = { viewers, now, questions, calls, tools, flows, live, access };
  const api = new ConsoleApi({ people, log, ...parts, accept, whatIf, settings, gateway: context.gateway });
  return {
    ofBrowser: api.ofBrowser,
    ofProgram: api.ofProgram,
    enter(request, response) {
      enter({ people, log }, request, response).catch((cause: unknown) => {
        log.error({ cause }, 'console.failed');
        if (!response.headersSent) response.writeHead(500).end();
      });
    },
    close() {
      stopWatching();
      live.close();
    },
  };
}
