// No process ends by an author's doing. The callbacks are read from the declarations of the package, so that a new one needs a case: the program
// throws from each, rejects, and throws an error that cannot be read, in one process, and the same server answers the next request.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../fixtures/programs/throwing-callbacks.mjs', import.meta.url));
const DECLARATIONS = fileURLToPath(new URL('../package/declarations.snapshot.txt', import.meta.url));

interface Line {
  callback: string;
  way: 'throws' | 'rejects' | 'unreadable';
  outcome: string;
  isNamed: boolean;
  isCalled: boolean;
}

/** Functions that Parley calls or gives itself; programs do not write them. */
const OURS =
  `WireRequest.onLate WireRequest.resolve WireRequest.reject AskResponder.server FairShares.end Listeners.close Listeners Listeners.work
PromptInbox.isFor RoutedChain.listener RpcPeer Server.listener ServerSubscriptions.tell StatelessExchange.tell SupervisedConnection.work
UpstreamTarget.listener FlowSessions TokenFlowSessions Ask$1.onAnswered Ask$1.onReceived Ask$1.onProgress CallOptions.onNotify CallOptions.onLog
CallOptions.onRelease CheckedSchema.check ClientChannel.callback Clock.callback ConnectServerOptions.onClose ConnectServerOptions.checkStart
EndpointOptions.part HttpEndpoint.handle HttpEndpoint.upgrade HumanChannelOptions.besides ListChecks.listener NegotiateOptions.via Origin.away
OutgoingCall.ask ServeContext.events ServeContextOptions.events StepContext.call SupervisedConnectionOptions.onClose Target.listener
TestedGateway.connect TestedGateway.close TestedServer.close Turn.later UpstreamTargetOptions.assisted UpstreamTargetOptions.checkStart
UpstreamTargetOptions.logIn UpstreamTargetOptions.roots Validity.end WaitingNotice.invite Wire AbortListener Fetch FetchList Handle HttpHandler
LookUp Lossy MapEntry Next OriginOf OwnerOf Remedy StandIn Hooks.next OnAsk.next StepFunctionOf.next Extension Server.work ConnectOptions`.split(
    /\s+/,
  );

/** Callbacks of programs that need a login, a page, files or a second process; tests of these play them. */
const PLAYED_ELSEWHERE =
  `EnterpriseLogin.idToken LoginOptions.clientKey LoginOptions.assertion GatewayOptions.loginFor GatewayOptions.checkStart
GatewayOptions.auditArguments PagesHost.identify PromptHandlers.onFeedback RetryOptions.random ServerOptions.events TokenFlowSessions.onEvent
TokenFlowSessions.act WatchStepOptions.onReload WatchStepOptions.isStillTrusted Credentials IdentifyPerson NotifyPerson RecordAudit RequestHandler
ResourceGuard ScriptedAnswers CallToolOptions.onTask`.split(/\s+/);

/** The same function by another name. */
const SAME: Record<string, string> = { 'Client.onUpdate': 'Client.listener', 'Client.work': 'Client.listener' };

/** Not called by what the program does: shown to be harmless only where they are registered. */
const UNCALLED =
  `ConnectOptions.requests ConnectOptions.onLogin OnAsk Step.keep Step.seesStarts Step.toolBehind Step.promptBehind
SessionOptions.baseUrl`.split(/\s+/);
/** They reject the request that needs them, which is how their caller learns of it. */
const UNLOGGED = [
  'Step.start',
  'SessionOptions.newId',
  'SessionOptions.newSeed',
  'Validate in every channel',
  'FlowBody in every channel',
];

function declaredCallbacks(): string[] {
  let owner = '';
  const found = readFileSync(DECLARATIONS, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const head = /^(?:export |declare |abstract )*(?:interface|class|type|function|const) ([\w$]+)/.exec(line);
      if (head) owner = head[1]!;
      if (!line.includes('=>')) return [];
      const members = line.matchAll(/([\w$]+)\??: (?:[^,;()]*\| )?\(*(?:<[^>]*>)?\((?:[^()]|\([^()]*\))*\) =>/g);
      const names = [...members].map(([, name]) => `${owner}.${name}`);
      return names.length > 0 ? names : [owner];
    });
  return [...new Set(found)];
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
    expect(lines.length).toBeGreaterThan(100);
  });

  it('is really called in the program, but for those that are listed here', () => {
    const uncalled = new Set(lines.filter(({ isCalled }) => !isCalled).map(({ callback }) => callback));
    expect([...uncalled].filter((callback) => !UNCALLED.includes(callback))).toEqual([]);
  });

  it('is in the log with the line of its author', () => {
    const thrown = lines.filter(({ way, isCalled }) => way === 'throws' && isCalled);
    const unnamed = thrown.filter(({ isNamed }) => !isNamed).map(({ callback }) => callback);
    expect(unnamed.filter((callback) => !UNLOGGED.includes(callback))).toEqual([]);
  });

  it('has a case if the declarations of the package accept it', () => {
    const cases = new Set(lines.map(({ callback }) => callback));
    const known = new Set([...cases, ...OURS, ...PLAYED_ELSEWHERE]);
    const missing = declaredCallbacks().filter((callback) => !known.has(SAME[callback] ?? callback));
    expect(missing).toEqual([]);
  });
});
