// A configuration, served. While that lasts its file is followed: what has changed there is restarted, and a file with errors
// changes nothing.
import { applyConfig } from '../../config/apply/apply.ts';
import type { GatewayUpdate, UpdatableGateway } from '../../config/apply/apply.ts';
import { buildGateway, buildListens } from '../../config/apply/build.ts';
import type { BuildOptions, BuiltGateway } from '../../config/apply/build.ts';
import type { LoadOptions } from '../../config/read/load.ts';
import { toLine } from '../../config/check/problems.ts';
import type { Problem } from '../../config/check/problems.ts';
import { watchConfig } from '../../config/apply/reload.ts';
import type { ConfigChange } from '../../config/apply/reload.ts';
import type { BuiltSteps, StepOptions } from '../../config/apply/steps.ts';
import type { HttpListenOptions } from '../../gateway/accept/http/listen-http.ts';
import { createGateway } from '../../gateway/gateway.ts';
import { leaveUntaken } from '../../gateway/upstream/links/head-start.ts';
import { surroundings } from '../around.ts';
import { ownAddress, waysIn } from '../commands/serve.ts';
import type { Own } from '../commands/serve.ts';
import { CallLines } from './call-lines.ts';
import { createCliLog, inLog } from '../cli-log.ts';
import type { ServeCommand } from '../command.ts';
import { shown, tellUnusable } from './configured.ts';
import type { Configured } from './configured.ts';
import { onStderr } from '../terminal/print.ts';
import type { Printer } from '../terminal/print.ts';
import { serveHttp, serveStdio } from './serve-until.ts';
import type { Served } from './serve-until.ts';
import { toServeWelcome } from '../first/serve-welcome.ts';
import { announceHere, ownStateFolder } from '../running/state-file.ts';
import { createStatusPage, readStatus } from './status-page.ts';
import { version } from '../../shared/version.ts';

export interface Serving extends Configured {
  /** Of the gateway (shared/via.ts). */
  id: string;
  own: Own;
}

export async function serveConfigured(command: ServeCommand, found: Serving, print: Printer): Promise<number> {
  const notices = inLog(print);
  const log = createCliLog(command.log ?? found.config.log.level);
  // A step that is loaded again may show other lists: clients are told to look again.
  const making = { log, stepLog: log, onStepReload: () => gateway.update({}) };
  const made = await make(found, making, print);
  if (!made) {
    await leaveUntaken();
    return 1;
  }
  const { built, listens } = made;
  tellProblems(found, notices);
  const started = new Date().toISOString();
  const pages = { '/status': createStatusPage(() => gateway, started) };
  const calls = command.logCalls ? [new CallLines().step] : [];
  const steps = [...calls, ...(built.options.steps ?? [])];
  // None is started before a client on stdin has said who it is: it may be a gateway that serves the same file.
  const kept = { stateFolder: ownStateFolder(), startsEager: !waysIn(command, found.config.listen).stdio };
  const gateway = createGateway({ ...built.options, ...kept, steps, id: found.id, version: version(), pages });
  // Steps of a changed file come behind the line of each call, as those of the first one did.
  const updatable = {
    update: (next: GatewayUpdate) => gateway.update(next.steps ? { ...next, steps: [...calls, ...next.steps] } : next),
  };
  const own = ownAddress(command, found.own);
  const following = follow(
    { found, own, share: command.share },
    { gateway: updatable, steps: built.steps, making, print: notices },
  );
  const served: Served = {
    stdio: () => gateway.listen({ stdio: true }),
    http: (options) => gateway.listen(options),
    announce: (url) =>
      announceHere({
        ...{ url, serves: found.path },
        status: () => readStatus(gateway, started),
        accept: (socket, part) => gateway.listen({ stdio: true, input: socket, output: socket, part }),
      }),
    close() {
      following.close();
      return Promise.all([gateway.close(), leaveUntaken()]);
    },
  };
  return serveAs(command, { found, served, listens }, print);
}

interface Ready {
  found: Serving;
  served: Served;
  listens: (HttpListenOptions | { stdio: true })[];
}

function serveAs(command: ServeCommand, { found, served, listens }: Ready, print: Printer): Promise<number> {
  const { stdio, port } = waysIn(command, found.config.listen);
  const fromFile = listens.find((listen) => 'port' in listen);
  if (port === undefined) return serveStdio(served, print);
  const host = command.host ?? found.config.listen.host;
  const wanted = { ...fromFile, host, port };
  const say = stdio ? onStderr(print) : print;
  return serveHttp(
    served,
    {
      wanted,
      stdio,
      onOpen(opened) {
        found.own.opened = { host, port: opened.port };
        for (const line of toServeWelcome({ found, opened, host, print: say, share: command.share })) say.line(line);
      },
    },
    print,
  );
}

interface Followed {
  found: Configured;
  own: LoadOptions['own'];
  share: LoadOptions['share'];
}

interface Following {
  gateway: UpdatableGateway;
  steps: BuiltSteps;
  making: StepOptions;
  print: Printer;
}

function follow({ found, own, share }: Followed, { gateway, steps, making, print }: Following): { close(): void } {
  let running = steps;
  const watch = watchConfig(found, {
    ...surroundings(),
    own,
    share,
    async onChange(change) {
      const { previous, next, loaded } = change;
      tellProblems(loaded, print);
      running = await applyConfig(gateway, { previous, next, steps: running }, making);
      for (const line of told(change)) print.news(line);
    },
    onProblems(problems) {
      tellProblems({ path: found.path, problems }, print);
      print.problem(`${shown(found.path)} has changed and cannot be used; what ran before runs on.`);
    },
  });
  return {
    close() {
      watch.close();
      running.close();
    },
  };
}

function tellProblems({ path, problems }: { path: string | undefined; problems: Problem[] }, print: Printer): void {
  for (const problem of problems) {
    const line = toLine(problem, shown(path));
    if (problem.level === 'note') print.note(line);
    else print.warning(line);
  }
}

function told({ difference, loaded }: ConfigChange): string[] {
  const { added, removed, changed, restart } = difference;
  const named = (verb: string, list: string[]): string[] => (list.length > 0 ? [`${verb} ${list.join(', ')}`] : []);
  const other = (['steps', 'groups', 'names'] as const).filter((key) => difference[key]);
  const all = [...named('started', added), ...named('restarted', changed), ...named('stopped', removed)];
  const what = [...all, ...named('renewed', other)].join('; ');
  return [
    `${shown(loaded.path)} has changed${what === '' ? '' : `: ${what}`}.`,
    ...(restart.length > 0 ? [`${restart.join(', ')} will be as written after the next start.`] : []),
  ];
}

interface Made {
  built: BuiltGateway;
  listens: Ready['listens'];
}

/** Undefined where a part cannot be made, such as a step that cannot be loaded; the reasons have been told. */
async function make(found: Serving, making: BuildOptions, print: Printer): Promise<Made | undefined> {
  try {
    return { listens: await buildListens(found.config), built: await buildGateway(found.config, making) };
  } catch (thrown) {
    if (!(await tellUnusable(found, print))) print.problem(`${shown(found.path)}: ${(thrown as Error).message}`);
    return undefined;
  }
}
