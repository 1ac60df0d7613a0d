// The console: pages at / on which the operator, and people who log in, see what happens and answer what waits for them. Nothing of it is loaded before
// somebody opens it.
import type { HttpHandler } from '../../../kernel/base/http.ts';
import type { ReadSettings } from '../../../kernel/config/shown-setting.ts';
import { defineFeature } from '../feature.ts';
import { CallRing } from './calls/call-ring.ts';
import { ConnectedClients } from './connected-clients.ts';
import type { OpenConsole } from './console.ts';
import type { FlowDesk } from '../../../kernel/flow/flow-desk.ts';
import { PassingFlows } from './flows/passing-flows.ts';

export interface ConsoleFeatureOptions {
  /** Pages at / for the operator and for people who log in. Default: none; `parley serve` has them. */
  console?: boolean | undefined;
  /** The settings in effect, for the operator to see in the console. */
  settings?: ReadSettings | undefined;
  /** Where the console finds the sessions of interactive tools. Default: it shows those that pass through the gateway. */
  flowSessions?: FlowDesk | undefined;
}

export const consoleFeature = defineFeature<ConsoleFeatureOptions>({
  name: 'console',
  create({ console: isWanted = false, name, settings, flowSessions }, context) {
    if (!isWanted) return undefined;
    const clients = new ConnectedClients(context.clock);
    const calls = new CallRing(context);
    const flows = new PassingFlows(context.clock);
    let opened: Promise<OpenConsole> | undefined;
    const open = (): Promise<OpenConsole> =>
      (opened ??= import('./console.ts').then(({ openConsole }) =>
        openConsole({ context, name: name ?? 'parley', clients, calls, settings, flows, flowSessions }),
      ));
    const late = (load: () => Promise<HttpHandler>): HttpHandler => {
      return (request, response) =>
        void load().then(
          (handler) => handler(request, response),
          () => response.writeHead(503).end(),
        );
    };
    return {
      layer: (next) => clients.layer(flows.layer(next)),
      openPages: {
        '/': late(async () => (await import('./assets.ts')).shellPage),
        '/console/assets/': late(async () => (await import('./assets.ts')).assetPage),
        '/console/enter': late(async () => (await open()).enter),
        '/console/api/*/': late(async () => (await open()).ofBrowser),
      },
      pages: () => ({ '/console/api/': late(async () => (await open()).ofProgram) }),
      sendAway: () => void opened?.then((one) => one.close()),
      close: () => calls.close(),
    };
  },
});
