// The exported names of each entry: a new one, or one that is gone, is always a visible change here.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ROOT, read } from '../helpers/files.ts';

type Entry = { 'parley-source': string; types: string; default: string };

const manifest = JSON.parse(read('package.json')) as { exports: Record<string, Entry | string>; bin: object };
const entries = Object.entries(manifest.exports).filter(
  (entry): entry is [string, Entry] => typeof entry[1] === 'object',
);

describe('the public surface', () => {
  it('has these entries', () => {
    expect(Object.keys(manifest.exports)).toMatchInlineSnapshot(`
      [
        ".",
        "./flow",
        "./middleware",
        "./testing",
        "./package.json",
      ]
    `);
    expect(manifest.bin).toMatchInlineSnapshot(`
      {
        "mcp-parley": "dist/cli/main.js",
        "parley": "dist/cli/main.js",
      }
    `);
  });

  it('exports these names from "."', async () => {
    expect(await namesOf('parley-source', '.')).toMatchInlineSnapshot(`
      [
        "DEFAULT_LIMITS",
        "ERRORS",
        "ExternalMCPServer",
        "FrontMCPServer",
        "GatewayError",
        "MiddlewareMCPServer",
        "ProtocolError",
        "RawObject",
        "connect",
        "createGateway",
        "createLog",
        "createServer",
        "respond",
      ]
    `);
  });

  it('exports these types from "."', () => {
    expect(typesOf('src/_entries/index.ts')).toMatchInlineSnapshot(`
      [
        "",
        "* from ../server/types.ts",
        "Address",
        "Approval",
        "Ask",
        "AskContext",
        "AskOptions",
        "Behind",
        "CallToolOptions",
        "Change",
        "Channel",
        "Client",
        "ClientCallOptions",
        "ClientConnection",
        "ClientView",
        "CommandAddress",
        "ConnectOptions",
        "EndpointOptions",
        "ErrorCode",
        "ErrorRow",
        "EventStore",
        "Exchange",
        "Fault",
        "Fetch",
        "Gateway",
        "GatewayCallOptions",
        "GatewayOptions",
        "Greeting",
        "Hooks",
        "HttpEndpoint",
        "Identify",
        "IdentifyRequest",
        "Identity",
        "JsonObject",
        "Limits",
        "ListenOptions",
        "ListeningWith",
        "Log",
        "LogEntry",
        "Message",
        "Next",
        "ObserveOptions",
        "Outcome",
        "OutcomeOf",
        "ParleyServer",
        "Progress",
        "RequestId",
        "ResultObject",
        "RootOption",
        "SamplerOptions",
        "ServerEntry",
        "ServerSettings",
        "ServerView",
        "StandIn",
        "StandInFor",
        "StandIns",
        "Step",
        "StepExchange",
        "StepFunction",
        "StepFunctionOf",
        "StepMethod",
        "StepMethods",
        "StoredEvent",
        "Target",
        "TaskState",
        "TraceContext",
        "UrlAddress",
      ]
    `);
  });

  it('exports these names from "./flow"', async () => {
    expect(await namesOf('parley-source', './flow')).toMatchInlineSnapshot(`
      [
        "AskError",
        "CANCEL",
        "DEFAULT_FLOW_LIMITS",
        "FlowClient",
        "SessionEndedError",
        "Sessions",
        "TravellingSessions",
        "connectFlows",
        "createRedisStore",
        "createSignedTokens",
        "createSqliteStore",
        "createTokens",
        "exploreFile",
        "f",
        "flow",
        "memoryStore",
        "msg",
        "serveFlows",
        "settled",
        "toInputSchema",
      ]
    `);
  });

  it('exports these types from "./flow"', () => {
    expect(typesOf('src/_entries/flow.ts')).toMatchInlineSnapshot(`
      [
        "* from ../flow/authoring/options.ts",
        "* from ../flow/authoring/others.ts",
        "* from ../flow/interaction.ts",
        "* from ../flow/journal.ts",
        "* from ../flow/session/verbs/requests.ts",
        "* from ../flow/store/store.ts",
        "Answered",
        "AnyFlow",
        "Ask",
        "AskFailure",
        "Bearer",
        "Binding",
        "Body",
        "Catalogue",
        "Choice",
        "Complaint",
        "Delivered",
        "ExploreFileOptions",
        "Explored",
        "ExploredFlow",
        "ExploredFlows",
        "ExploredOption",
        "Failure",
        "Field",
        "FieldBuilders",
        "FieldsOf",
        "FileAnswer",
        "FileRef",
        "Flow",
        "FlowClientOptions",
        "FlowLimits",
        "FlowOptions",
        "FlowOutcome",
        "FormField",
        "FormFields",
        "FoundQuestion",
        "InputOf",
        "KeptAsJson",
        "Key",
        "Kind",
        "Message",
        "Migration",
        "Opened",
        "PastTurn",
        "PersonAsk",
        "PersonNotice",
        "PlayOptions",
        "Prompt",
        "PromptContext",
        "PromptType",
        "Question",
        "RedisPlace",
        "RedisStoreOptions",
        "ResultOf",
        "RetryPolicy",
        "SchemaOutput",
        "Secret",
        "ServeFlowsOptions",
        "SessionEvent",
        "SessionOptions",
        "Span",
        "SqliteFile",
        "SqliteOptions",
        "StateView",
        "StepContext",
        "StepOptions",
        "TokenOptions",
        "Tokens",
        "ToolAnswer",
        "ToolCaller",
        "ToolCallerOption",
        "ToolCallerOptions",
        "Travelled",
        "TravellingOptions",
        "Turn",
        "Validation",
        "ValueOf",
        "Verdict",
        "Words",
      ]
    `);
  });

  it('exports these names from "./middleware"', async () => {
    expect(await namesOf('parley-source', './middleware')).toMatchInlineSnapshot(`
      [
        "ORDER",
        "approve",
        "byName",
        "cache",
        "circuitBreaker",
        "createChain",
        "defaults",
        "describe",
        "filter",
        "fixed",
        "loadStep",
        "log",
        "mapNames",
        "mapTools",
        "onCall",
        "onCustomMethod",
        "onList",
        "onMethod",
        "perClient",
        "prefix",
        "redact",
        "rename",
        "respond",
        "retry",
        "sizeLimit",
        "timeout",
        "watchStep",
      ]
    `);
  });

  it('exports these types from "./middleware"', () => {
    expect(typesOf('src/_entries/middleware.ts')).toMatchInlineSnapshot(`
      [
        "",
        "ApprovalRule",
        "ApproveOptions",
        "ApproveWhen",
        "BuiltIn",
        "CacheOptions",
        "ChainOptions",
        "CircuitBreakerOptions",
        "DescribeOptions",
        "FilterOptions",
        "Hooks",
        "Listed",
        "LogOptions",
        "LookUp",
        "MapEntry",
        "Mapping",
        "Next",
        "Notification",
        "OnAsk",
        "Outcome",
        "PrefixOptions",
        "RedactOptions",
        "Remember",
        "RenameOptions",
        "RetryOptions",
        "Rule",
        "SizeLimitOptions",
        "Step",
        "StepExchange",
        "StepFactory",
        "StepFunction",
        "TimeoutOptions",
        "ToolArguments",
        "WatchStepOptions",
        "WatchedStep",
      ]
    `);
  });

  it('exports these names from "./testing"', async () => {
    expect(await namesOf('parley-source', './testing')).toMatchInlineSnapshot(`
      [
        "manualClock",
        "memoryPair",
        "testFlow",
        "testGateway",
        "testServer",
        "testStep",
        "unanswered",
      ]
    `);
  });

  it('exports these types from "./testing"', () => {
    expect(typesOf('src/_entries/testing.ts')).toMatchInlineSnapshot(`
      [
        "Answers",
        "AsClientOptions",
        "ClientKind",
        "Connectable",
        "FlowClientTest",
        "FlowTest",
        "FlowTestOptions",
        "LogLine",
        "ManualClock",
        "Played",
        "PlayedAsClient",
        "Reached",
        "Replayed",
        "StepSeen",
        "StepTest",
        "TestedGateway",
        "TestedServer",
        "TestedStep",
        "Unanswered",
        "Way",
      ]
    `);
  });

  it.each(entries.map(([name]) => name))('is the same in the built %s', async (name) => {
    expect(await namesOf('default', name)).toEqual(await namesOf('parley-source', name));
  });

  it.each(entries)('has declarations for the built %s', (_name, entry) => {
    expect(read(entry.types)).toContain('export');
  });
});

async function namesOf(condition: 'parley-source' | 'default', name: string): Promise<string[]> {
  const entry = manifest.exports[name] as Entry;
  const module = (await import(pathToFileURL(join(ROOT, entry[condition])).href)) as object;
  return Object.keys(module).sort();
}

/** Types leave no trace at run time, so they are read from the entry itself. */
function typesOf(path: string): string[] {
  const lists = [...read(path).matchAll(/export type (?:\{([^}]*)\}|\*) from '([^']+)'/g)];
  return lists.flatMap(([, names, from]) => names?.split(',').map((name) => name.trim()) ?? [`* from ${from}`]).sort();
}
