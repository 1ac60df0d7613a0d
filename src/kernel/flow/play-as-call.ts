// One answer to `interaction.start` of MCP Flow: no session begins, the tool is to be called instead. The router and steps answer with it, steps
// further out pass it on like any other result, and the Flow layer of the gateway acts on it. No client sees it: a symbol never gets into JSON,
// so no server can send it either.
import type { JsonObject } from '../message.ts';
import type { ResultObject } from '../raw/raw-object.ts';

/** All copies of this package share it, because a step loaded from a file may have its own copy. */
const KEY = Symbol.for('mcp-parley.play-as-call');

export interface PlayAsCall {
  tool: string;
  /** `step`: a step has to see the call, with its questions or its result. `server`: the server does not play this tool. */
  wantedBy: 'step' | 'server';
}

export function toPlayAsCall(wanted: PlayAsCall): JsonObject {
  return { [KEY]: wanted };
}

export function readPlayAsCall(result: ResultObject): PlayAsCall | undefined {
  return (result as { [KEY]?: PlayAsCall })[KEY];
}
