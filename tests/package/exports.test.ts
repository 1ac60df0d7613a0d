// The exported names of each entry: a new one, or one that is gone, is always a visible change here.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ROOT, read } from '../helpers/files.ts';

type Entry = { types: string; default: string };

const manifest = JSON.parse(read('package.json')) as { exports: Record<string, Entry | string>; bin: object };
const entries = Object.entries(manifest.exports).filter(
  (entry): entry is [string, Entry] => typeof entry[1] === 'object',
);

describe('the public surface', () => {
  it('the public surface has these entries', () => {
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
    expect(await sourceNames('.')).toMatchInlineSnapshot(`
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
        "createAuditLog",
        "createGateway",
        "createLog",
        "createServer",
        "openSharedState",
        "respond",
      ]
    `);
  });

  it('exports these types from "."', () => {
    expect(typesOf('src/_entries/index.ts')).toMatchInlineSnapshot(`
      [
        "Address",
        "AnswerOf",
        "Asker",
        "AuditEvent",
        "Call",
        "Change",
        "Client",
        "ClientView",
        "ConnectOptions",
        "ErrorCode",
        "EventStore",
        "Exchange",
        "Fetch",
        "FormAnswer",
        "Gateway",
        "GatewayOptions",
        "HttpEndpoint",
        "HttpListening",
        "Identify",
        "JsonObject",
        "Limits",
        "ListenOptions",
        "Log",
        "ParleyServer",
        "PromptOptions",
        "Registration",
        "ResourceOptions",
        "ResultObject",
        "Schema",
        "ServerEntry",
        "ServerOptions",
        "ServerSettings",
        "ServerView",
        "State",
        "StdioListening",
        "Step",
        "StepFunction",
        "Target",
        "TemplateOptions",
        "ToolHandler",
        "ToolOptions",
        "TypedResult",
        "TypedToolHandler",
      ]
    `);
  });

  it('exports these names from "./flow"', async () => {
    expect(await sourceNames('./flow')).toMatchInlineSnapshot(`
      [
        "AskError",
        "CANCEL",
        "DECLINE",
        "FlowClient",
        "FlowSessions",
        "InteractionState",
        "PromptType",
        "SessionEndedError",
        "TokenFlowSessions",
        "connectFlows",
        "createPostgresStore",
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
      ]
    `);
  });

  it('exports these types from "./flow"', () => {
    expect(typesOf('src/_entries/flow.ts')).toMatchInlineSnapshot(`
      [
        "AnyFlow",
        "Ask",
        "BlobStore",
        "ExploredFlows",
        "FieldsOf",
        "FileRef",
        "Flow",
        "FlowClientOptions",
        "FlowOptions",
        "FlowOutcome",
        "FlowStore",
        "FormField",
        "Header as SessionHeader",
        "InputOf",
        "InteractionCancelRequest",
        "InteractionCompleteRequest",
        "InteractionContinueRequest",
        "InteractionGetStateRequest",
        "InteractionPromptRequest",
        "InteractionRespondRequest",
        "InteractionStartRequest",
        "JournalEntry",
        "LeaseStore",
        "PersonAsk",
        "PersonNotice",
        "PlayOptions",
        "Prompt",
        "ResultOf",
        "RetryPolicy",
        "Secret",
        "ServeFlowsOptions",
        "SessionEvent",
        "SessionId",
        "SessionStore",
        "SharedStore",
        "Span",
        "SpentTokens",
        "StepContext",
        "StepOptions",
        "StoredSession",
        "Tokens",
        "Turn",
      ]
    `);
  });

  it('exports these names from "./middleware"', async () => {
    expect(await sourceNames('./middleware')).toMatchInlineSnapshot(`
      [
        "approve",
        "cache",
        "circuitBreaker",
        "createChain",
        "defaults",
        "describe",
        "discover",
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
        "screen",
        "sizeLimit",
        "timeout",
        "watchStep",
      ]
    `);
  });

  it('exports these types from "./middleware"', () => {
    expect(typesOf('src/_entries/middleware.ts')).toMatchInlineSnapshot(`
      [
        "Hooks",
        "Next",
        "Outcome",
        "Step",
        "StepExchange",
        "StepFunction",
        "WatchedStep",
      ]
    `);
  });

  it('exports these names from "./testing"', async () => {
    expect(await sourceNames('./testing')).toMatchInlineSnapshot(`
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
        "FlowTest",
        "ManualClock",
        "TestedGateway",
        "TestedServer",
        "TestedStep",
      ]
    `);
  });

  it('exports each name by name', async () => {
    const names = new Set<string>();
    for (const [name, entry] of entries) {
      for (const value of await sourceNames(name)) names.add(value);
      for (const type of typesOf(sourceOf(entry))) names.add(type);
    }
    expect([...names].filter((name) => !/^\w+(?: as \w+)?$/.test(name))).toEqual([]);
  });

  it.each(entries.map(([name]) => name))('the public surface is the same in the built %s', async (name) => {
    expect(await builtNames(name)).toEqual(await sourceNames(name));
  });

  it.each(entries)('the public surface has declarations for the built %s', (_name, entry) => {
    expect(read(entry.types)).toContain('export');
  });
});

async function builtNames(name: string): Promise<string[]> {
  return namesIn((manifest.exports[name] as Entry).default);
}

async function sourceNames(name: string): Promise<string[]> {
  return namesIn(sourceOf(manifest.exports[name] as Entry));
}

function sourceOf({ default: built }: Entry): string {
  return built.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
}

async function namesIn(path: string): Promise<string[]> {
  const module = (await import(pathToFileURL(join(ROOT, path)).href)) as object;
  return Object.keys(module).sort();
}

/** Types leave no trace at run time, so they are read from the entry itself. */
function typesOf(path: string): string[] {
  const lists = [...read(path).matchAll(/export type (?:\{([^}]*)\}|\*) from '([^']+)'/g)];
  return lists
    .flatMap(
      ([, names, from]) =>
        names
          ?.split(',')
          .map((name) => name.trim())
          .filter((name) => name !== '') ?? [`* from ${from}`],
    )
    .sort();
}
