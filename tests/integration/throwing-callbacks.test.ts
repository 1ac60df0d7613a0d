// No process ends by an author's doing. The callbacks are read from the declarations of the package (public-callbacks.mjs), so that a new one needs a case: the program
// throws from each, rejects, and throws an error that cannot be read, in one process, and the same server answers the next request.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../fixtures/programs/throwing-callbacks.mjs', import.meta.url));
const LISTED = fileURLToPath(new URL('../fixtures/programs/public-callbacks.mjs', import.meta.url));

interface Line {
  callback: string;
  way: 'throws' | 'rejects' | 'unreadable';
  outcome: string;
  isNamed: boolean;
  isCalled: boolean;
}

/** Objects that only Parley makes, though their types do not say so: what comes back to it is what it gave. */
const OURS = new Set(
  `Abortable AbortListener Ask Asker Ask$1 Call ChainContext CheckedSchema ClientChannel Exchange Extension FairShares GatewayTool Handle HttpResponse
LastLists ListChecks LookUp ManualClock MapEntry Next OpenPages Origin OriginOf OwnedTable OwnerOf PageLogin PagesHost RawObject RunGuard Sealer SessionPrompts
StandIn StatelessExchange StepContext StepExchange Turn WaitingNotice Watcher Connectable LoginAttempt Behind HumanChannelOptions
UpstreamTargetOptions RoutedChain UpstreamTarget TokenFlowSessions Lease CallNotes EventWatcher Nodes ParkedCall RunningRequest RedisPlace`.split(
    /\s+/,
  ),
);

/** A clock of the program is for its tests: nothing that has a time can go on without one. */
const NO_CASE = ['Clock.now', 'Clock.after', 'Clock.ticks'];

/** Parts of a callback that has a case: what it is given to go on with, and what a part of its own type returns. */
const WITHIN =
  `Clock.after() Clock.after(callback) HttpEndpoint.handle(next) Hooks.ask(next) Hooks.log(next) Hooks.notify(next) Hooks.progress(next) OnAsk(next)
Server.watch(listener) Target.watch(listener) Validity.watch(end) RequestHandler EndpointOptions.part ServeContext.eventStore State.watch() State.watch(changed)
SessionStore.onChange(listener)`.split(/\s+/);

/** Callbacks of programs that need a login, a page, files or a second process; tests of these play them. */
const PLAYED_ELSEWHERE =
  `EnterpriseLogin.idToken LoginOptions.clientKey LoginOptions.assertion AccountsFeatureOptions.loginFor IdentifyPerson NotifyPerson ResourceGuard
ScriptedAnswers FlowDesk.ask State.take State.get State.put State.remove State.list State.draw State.lease State.watch State.close PostgresPool.query RecordAudit.lost WatchStepOptions.onReload WatchStepOptions.isStillTrusted`.split(
    /\s+/,
  );

/** The same function by another name. */
const SAME: Record<string, string> = {
  'Ask.step(work)': 'Ask.work',
  'Client.on(listener)': 'Client.listener',
  'FlowSessions.on(listener)': 'FlowSessions.listener',
  'Log.child': 'Log',
  'Log.debug': 'Log',
  'Log.error': 'Log',
  'Log.info': 'Log',
  'Log.warn': 'Log',
  'ServerOptions.events': 'ServeContextOptions.events',
  'LogSetup.level': 'createLog.level',
  'LogSetup.write': 'createLog.write',
  StepFunctionOf: 'StepFunction',
  TypedToolHandler: 'ToolHandler',
  'createLog(options).write': 'createLog.write',
  'perClient(make)': 'perClient.make',
};

/** Only a login by a person calls the first ones; of a target, a gateway asks for subscriptions by `handle`, and for what is held back only where lists are checked. */
const UNCALLED =
  `ServerLogin.accepted ServerLogin.begin ServerLogin.end ServerLogin.hasFreshTokens ServerLogin.lastRedirectUrl Target.heldBack Target.subscribe`.split(
    ' ',
  );
/** Nobody but the program calls these on its own store. */
const NOT_OURS = ['FlowStore.drop', 'FlowStore.close'];
/** They reject the request that needs them, which is how their caller learns of it; what is never awaited is the author's own. */
const UNLOGGED = [
  'Step.start',
  'Target.setLevel',
  'PromptHandlers.onPrompt',
  'GatewayOptions.checkStart',
  'SessionOptions.newId',
  'SessionOptions.newSeed',
  'Validate in every channel',
  'FlowBody in every channel',
  'ConnectOptions.requests',
  'ConnectOptions.onLogin',
  'OnAsk',
  'Target.followTask',
  'FlowStore.putBlob',
  'FlowStore.getBlob',
  'FlowStore.spend',
  'FlowStore.forgetOutcome',
  'Asker, never awaited',
  'StepContext, never awaited',
  'StepExchange and LookUp, never awaited',
  'Exchange of a target, never awaited',
];

/** Everything that a program can give, from the declarations. */
async function declaredCallbacks(): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [LISTED]);
  return JSON.parse(stdout) as string[];
}

describe('a callback that throws', () => {
  let lines: Line[];

  beforeAll(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM], { timeout: 280_000 });
    lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  }, 300_000);

  it('leaves the server alive, whatever it throws and however', () => {
    expect(lines.filter(({ outcome }) => outcome !== 'alive')).toEqual([]);
    expect(lines.length).toBeGreaterThan(300);
  });

  it('is really called in the program, but for those that are listed here', () => {
    const uncalled = new Set(lines.filter(({ isCalled }) => !isCalled).map(({ callback }) => callback));
    expect([...uncalled].toSorted()).toEqual(UNCALLED.toSorted());
  });

  it('is in the log with the line of its author', () => {
    const thrown = lines.filter(({ way, isCalled }) => way === 'throws' && isCalled);
    const unnamed = thrown.filter(({ isNamed }) => !isNamed).map(({ callback }) => callback);
    expect(unnamed.filter((callback) => !UNLOGGED.includes(callback))).toEqual([]);
  });

  it('has a case if the declarations of the package accept it', async () => {
    const declared = await declaredCallbacks();
    const cases = new Set(lines.map(({ callback }) => callback));
    const known = new Set([...cases, ...NO_CASE, ...NOT_OURS, ...WITHIN, ...PLAYED_ELSEWHERE]);
    /** A store of flows is made of several smaller ones. */
    const nameOf = (callback: string) => callback.replace(/^(?:(?!Event)[A-Z][a-z]+Store|SpentTokens)\./, 'FlowStore.');
    const isKnown = (callback: string) =>
      OURS.has(callback.split(/[.(]/)[0]!) || known.has(callback) || known.has(SAME[callback] ?? nameOf(callback));
    expect(declared.filter((callback) => !isKnown(callback))).toEqual([]);
    expect([...WITHIN, ...PLAYED_ELSEWHERE].filter((callback) => !declared.includes(callback))).toEqual([]);
  });
});
