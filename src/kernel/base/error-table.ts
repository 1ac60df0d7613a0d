// Every error that Parley raises, in one table. docs/errors.md shows this table; a test keeps them equal.

type Fault = 'client' | 'upstream' | 'parley' | 'config';

export interface ErrorRow {
  /** The JSON-RPC code, unless a dialect has its own. */
  code: number;
  /** The HTTP status while nothing has been sent. */
  status: number;
  fault: Fault;
  /** What happened; `{name}` is filled from the details. */
  message: string;
  /** What to do about it. */
  hint: string;
}

export const ERRORS = {
  PARSE_ERROR: row(-32700, 400, 'client', ['Parse error', 'Send one complete JSON text per message, in UTF-8.']),
  INVALID_REQUEST: row(-32600, 400, 'client', [
    'Invalid Request',
    'Send a JSON-RPC 2.0 message; `data` says what is wrong with it.',
  ]),
  METHOD_NOT_FOUND: row(-32601, 404, 'client', [
    'Method not found',
    'Use a method that the negotiated revision has and the server offers.',
  ]),
  INVALID_PARAMS: row(-32602, 400, 'client', ['Invalid params', 'Correct the parameter that `data` names.']),
  START_ID_USED: row(-32602, 400, 'client', [
    'This start id was used for another start',
    'Repeat a start with the same tool and the same arguments. For another one choose another id.',
  ]),
  INVALID_ARGUMENTS: row(-32602, 200, 'client', [
    'Invalid arguments for tool {tool}: {reason}',
    "Match the tool's input schema.",
  ]),
  TOOL_NOT_FOUND: row(-32602, 200, 'client', [
    'Unknown tool: {name}',
    'List the tools again; it may have been removed or renamed.',
  ]),
  PROMPT_NOT_FOUND: row(-32602, 200, 'client', ['Unknown prompt: {name}', 'List the prompts again.']),
  OWNER_AWAY: row(-32603, 502, 'upstream', [
    'Unknown {kind}: {name}. It may belong to a server that is down: {reasons}',
    'Find out why the server is down, or call the name with the server in front, `server__name`.',
  ]),
  RESOURCE_NOT_FOUND: row(-32002, 200, 'client', ['Resource not found: {uri}', 'List the resources again.']),
  TASK_NOT_FOUND: row(-32602, 200, 'client', [
    'Unknown task: {taskId}',
    'It never existed, has expired, or belongs to somebody else.',
  ]),
  TASK_REQUIRED: row(-32601, 400, 'client', [
    'Tool {tool} runs only as a task',
    'Call it with a client that can follow tasks.',
  ]),
  ACCESS_DENIED: row(-32602, 200, 'client', ['Access denied: {uri}', 'Ask for a resource that policy allows.']),
  INTERNAL: row(-32603, 500, 'parley', ['Internal error', 'See the log for the exchange id in `data`.']),
  TOOL_UNREACHABLE: row(-32603, 200, 'upstream', [
    'Tool execution failed: {reason}',
    'The server of the tool could not finish the call; try again.',
  ]),
  CANCELLED: row(-32603, 200, 'client', ['Request cancelled', 'Nothing to do: the client gave up on it.']),
  TOO_MANY: row(-32000, 429, 'client', ['Too many {what}', 'Wait for some to finish, or raise limits.{limit}.']),
  RATE_LIMITED: row(-32000, 429, 'client', [
    'Too many calls: {what} allows {rate}. The next one is possible in {retryAfterMs} ms',
    'Wait for `retryAfterMs` (over HTTP: `Retry-After`), or raise the rate that `data.limit` names. See docs/safety.md.',
  ]),
  TOO_MANY_PROCESSES: row(-32000, 429, 'upstream', [
    'The server {server} already has {count} processes (limits.maxProcesses is {max}; the last one is for clients that share). The operator can raise it, or set share to "all"',
    'Wait until a client has left, or raise limits.maxProcesses. With share "all" the clients share one process, and the server can ask none of them.',
  ]),
  MESSAGE_TOO_LARGE: row(-32600, 413, 'client', [
    'Message larger than {limit} bytes',
    'Send less, or raise limits.{name}.',
  ]),
  NESTED_TOO_DEEP: row(-32600, 400, 'client', [
    'Message nested deeper than {limit} levels',
    'Flatten it, or raise limits.maxDepth.',
  ]),
  TOO_MANY_VALUES: row(-32600, 413, 'client', [
    'Message with more than {limit} values',
    'Send less, or raise limits.maxValues.',
  ]),
  CLIENT_CANNOT_BE_ASKED: row(-32021, 400, 'client', [
    'The client cannot be asked: {what}',
    'Use a client that declares this capability.',
  ]),
  ASK_UNCLEAR: row(-32603, 200, 'parley', [
    'The user was not asked ({method}): {count} calls are open, and the question does not say which of them it belongs to. Call the tool again: it then gets its own connection',
    'Call the tool again. A question that names its call can always be asked.',
  ]),
  ASK_ABANDONED: row(-32603, 200, 'client', [
    'The user was not asked ({method}): the client has cancelled the call',
    'Nothing to do: stop the work when the call is cancelled.',
  ]),
  ASK_REFUSED: row(-32603, 200, 'client', [
    'The client refused to answer {method}: {reason}',
    "Nothing to do: it was the user's or the client's choice.",
  ]),
  NO_PERSON: row(-32603, 200, 'config', [
    'Only a person may answer this, and none can be asked: no browser is paired {whom}, and the operator does not trust the forms of this client',
    'Run `parley pair` on the machine of the gateway (where users log in: `parley pair --user NAME`), or name the client in `ask.trust`; docs/approval.md shows both.',
  ]),
  NO_PAGE: row(-32603, 200, 'config', [
    'Only a person may answer this, and none can be asked: browsers cannot reach the page of this gateway, and the operator does not trust the forms of this client',
    'Set `publicUrl` to the address under which browsers reach the gateway, and keep "page" in `ask.channels`; or name the client in `ask.trust`. docs/approval.md shows both.',
  ]),
  NO_TERMINAL: row(-32603, 200, 'client', [
    'Only a person may answer this, and there is no terminal here; --yes and piped answers do not count',
    'Run the command on a terminal. To answer in a browser instead, run `parley pair` and set `"ask": { "trust": [] }`.',
  ]),
  TOO_LONG_TO_SHOW: row(-32603, 200, 'client', [
    'The question has {length} characters. A person cannot be shown more than {limit}, so it cannot be approved',
    'Send smaller arguments, or raise limits.maxShownChars.',
  ]),
  ANSWER_INVALID: row(-32603, 200, 'client', [
    'The answer does not fit the form: {reason}',
    'Have the client check answers against `requestedSchema`, or ask again.',
  ]),
  MODEL_FAILED: row(-32603, 502, 'config', [
    'The model that answers for clients without sampling failed: {reason}',
    'Check `ask.model` in the configuration, and that its endpoint works.',
  ]),
  STATE_INVALID: row(-32602, 400, 'client', [
    'Invalid or expired requestState',
    'Start the call again without requestState.',
  ]),
  LOOP: row(-32000, 508, 'config', [
    'Refused: this request is in a loop: {reason}',
    'Remove the entry that leads back to the gateway. A gateway cannot be one of its own servers.',
  ]),
  NOT_ALLOWED: row(-32000, 403, 'client', [
    'Refused: {reason}',
    'Add the Host header to `allowedHosts` or the Origin to `allowedOrigins`; a proxy sends its own Host unless configured otherwise. See docs/eras.md.',
  ]),
  UNAUTHORIZED: row(-32000, 401, 'client', [
    'Log in first: {reason}',
    'Send `Authorization: Bearer` with the token of the gateway (`parley status --lines`), an API key (`parley key add`) or an access token for this URL; the header WWW-Authenticate says where tokens come from. See docs/logins.md.',
  ]),
  INSUFFICIENT_SCOPE: row(-32000, 403, 'client', [
    'The key or token does not allow this: it needs the scope {scope}',
    'Log in again with this scope, or use a key that has it.',
  ]),
  LOGIN_UNAVAILABLE: row(-32603, 503, 'config', [
    'The login cannot be checked at the moment',
    'The log says why: `login.unavailable`. The issuer in `auth.issuers` must answer with its metadata and keys.',
  ]),
  OPEN_TO_OTHERS: row(-32603, 500, 'config', [
    'Refused to listen on {host} without a login: everybody who reaches the port could call every tool. TLS is not a login',
    'Make a key with `parley key add NAME`, set `auth`, or let everybody in with `--open` (in code: `open: true`). See docs/logins.md.',
  ]),
  SESSION_MISSING: row(-32000, 400, 'client', [
    'Bad Request: Mcp-Session-Id header is required',
    'Send the id from the initialize answer, or initialize first.',
  ]),
  SESSION_NOT_FOUND: row(-32001, 404, 'client', ['Session not found', 'Initialize again, without a session id.']),
  GATEWAY_STOPPED: row(-32603, 503, 'parley', [
    'Parley stopped while it was handling this request, which may or may not have taken effect',
    'Call again if repeating it is safe. The session continues if its id is still accepted.',
  ]),
  OWNER_LOST: row(-32603, 503, 'parley', [
    'The gateway that was handling this request has ended; the request may or may not have taken effect',
    'Look whether it has. Call again if repeating it is safe; the session goes on at another gateway.',
  ]),
  NODE_AWAY: row(-32603, 503, 'parley', [
    'The gateway that has this session does not answer; the request was not begun',
    'Call again in a few seconds.',
  ]),
  NOT_ACCEPTABLE: row(-32000, 406, 'client', [
    'Not Acceptable: {reason}',
    'Send the Accept header that the message names.',
  ]),
  WRONG_MEDIA_TYPE: row(-32000, 415, 'client', [
    'Unsupported Media Type: Content-Type must be application/json',
    'Send Content-Type: application/json.',
  ]),
  BODY_READ_BEFORE: row(-32603, 500, 'config', [
    'The body of this request was read before it reached the MCP endpoint',
    'Mount the endpoint before body parsers, or leave the parsed body as `request.body`; docs/embedding.md shows both.',
  ]),
  HTTP_METHOD: row(-32000, 405, 'client', ['Method Not Allowed', 'Use the HTTP methods named in the Allow header.']),
  UNSUPPORTED_VERSION: row(-32602, 400, 'client', [
    'Unsupported protocol version: {requested}',
    'Use one of the versions in `data.supported`.',
  ]),
  HEADER_MISMATCH: row(-32020, 400, 'client', [
    'Header mismatch: {reason}',
    'Mirror the body into the Mcp-* headers exactly.',
  ]),
  UPSTREAM_TIMEOUT: row(-32603, 504, 'upstream', [
    '{server} did not answer {method} within {ms} ms{why}',
    'Raise the timeout, or find out why the server is slow.',
  ]),
  UPSTREAM_CLOSED: row(-32603, 502, 'upstream', [
    'The connection to {server} closed: {reason}',
    "Look at the server's own output, then connect again.",
  ]),
  UPSTREAM_UNREACHABLE: row(-32603, 502, 'upstream', [
    'Cannot reach {server}: {reason}',
    'Check the command or URL, and that the server runs.',
  ]),
  UPSTREAM_NO_SANDBOX: row(-32603, 502, 'config', [
    '{server} was not started: its sandbox needs {needs}, which is not installed',
    'Install it, or set `"optional": true` in the `sandbox` of the server to start it without one. See docs/safety.md.',
  ]),
  UPSTREAM_UNTRUSTED: row(-32603, 502, 'config', [
    '{server} was not started: code that it runs has changed since it was trusted by `parley trust`',
    'Look at what has changed, then run `parley trust` again where the gateway runs.',
  ]),
  UPSTREAM_FAILED: row(-32603, 502, 'upstream', [
    '{server} failed: {reason}',
    "Look at the server's own log; the same request may succeed later.",
  ]),
  UPSTREAM_INVALID: row(-32603, 502, 'upstream', [
    '{server} sent something invalid: {reason}',
    'Report it to the author of the server.',
  ]),
  UPSTREAM_BUSY: row(-32000, 503, 'upstream', [
    '{server} is too busy: {reason}',
    'Wait for `retryAfterMs`, if the server gave one, before the next call.',
  ]),
  UPSTREAM_UNAUTHORIZED: row(-32603, 502, 'upstream', [
    '{server} refused the credentials: HTTP {status}',
    'Check the token or headers for this server.',
  ]),
  UPSTREAM_LOGIN_NEEDED: row(-32603, 502, 'upstream', [
    '{server} needs a login. Run: parley login {server}',
    'Then try again. See docs/logins.md.',
  ]),
  UPSTREAM_LOGIN_LINK: row(-32603, 502, 'upstream', [
    '{server} needs a login: the user has to open {link} and log in',
    'Open the link, log in, and try again. The link lasts ten minutes. See docs/logins.md.',
  ]),
  UPSTREAM_LOGIN_AWAY: row(-32603, 502, 'upstream', [
    'The login at {server} cannot be renewed at the moment: {reason}',
    'Try again later: the login itself is still good, and nobody has to log in again.',
  ]),
  UPSTREAM_LOGIN_FAILED: row(-32603, 502, 'upstream', [
    'The login at {server} failed: {reason}',
    "Correct what the reason says: the server's `auth` in the configuration, or its authorization server. See docs/logins.md.",
  ]),
  UPSTREAM_ISSUER_CHANGED: row(-32603, 502, 'upstream', [
    '{server} now wants its login at {found}, but its configured secret is for {issuer}: nothing was sent',
    'Find out who changed it. If it is right, set `auth.issuer` of the server to the new one, or run `parley logout NAME` to forget the old one. See docs/logins.md.',
  ]),
  NO_COMMON_VERSION: row(-32603, 502, 'upstream', [
    '{server} and Parley have no revision in common: it offers {offered}',
    'Unpin the revision, or update one side.',
  ]),
  NOT_SUPPORTED: row(-32601, 200, 'upstream', ['{server} does not support {what}', 'Check its capabilities first.']),
  NOT_APPROVED: row(-32603, 200, 'client', ['{what} was not approved', 'Approve it, or do without.']),
  FORBIDDEN_BY_RULE: row(-32000, 200, 'client', [
    'A rule of the gateway forbids {what}',
    'Do without it, or ask the operator: `rules` in the configuration decides, and the audit log names the rule.',
  ]),
  TOO_LARGE_TO_JUDGE: row(-32000, 200, 'client', [
    'The rules of the gateway cannot judge {what}: its arguments are too large for them',
    'Send smaller arguments. The expression of a rule has a number of steps; the audit log names the rule.',
  ]),
  HELD_BACK: row(-32000, 200, 'upstream', [
    '{name} of {server} {what} since its definition was accepted, and is held back until the operator has looked at it: parley pins accept {server}__{name}',
    'Look at it with `parley pins diff {server}`. `pins` in the configuration says what is held back.',
  ]),
  ANSWER_HELD: row(-32000, 200, 'upstream', [
    'The answer of {name} was held back, and nobody has released it: {reason}',
    "Look at it in the server's own program; the step `screen` decides what is held back.",
  ]),
  BAD_OPTION: row(-32603, 500, 'config', ['{option}: {reason}', 'Correct the named option and try again.']),
  STATE_FAILED: row(-32603, 503, 'parley', [
    'What the gateways share cannot be read at the moment',
    'Try again. The log says why: `state.failed`. The Redis or folder of `state` must answer, and must not be read-only.',
  ]),
  STORE_UNUSABLE: row(-32603, 500, 'config', [
    'The flow store cannot be used: {reason}',
    'Correct `store`; docs/flow-stores.md shows its options.',
  ]),
  STORE_FAILED: row(-32603, 503, 'parley', [
    'The flow store failed: {reason}',
    'Try again: an answer that was recorded after all is not recorded twice. See the log.',
  ]),
  STEP_FAILED: row(-32603, 500, 'config', [
    'Internal error',
    'Find the exchange id of `error.data` in the log, and correct the step named there.',
  ]),
  STEP_MISUSED: row(-32603, 500, 'config', [
    'Step {step} {reason}',
    'Correct the step; docs/middleware.md has the rules.',
  ]),
  FLOW_SESSION_NOT_FOUND: row(-32001, 404, 'client', [
    'Session not found: {sessionId}',
    'Start the tool again; the session never existed, ended long ago, or belongs to somebody else.',
  ]),
  FLOW_SESSION_EXPIRED: row(-32002, 410, 'client', [
    'Session expired: {sessionId}',
    'Start the tool again, and answer sooner or ask for a longer timeout.',
  ]),
  FLOW_INVALID_TRANSITION: row(-32003, 409, 'client', [
    'Session {sessionId} is {state}: {reason}',
    'Look at its state with interaction.getState, and answer the prompt that is open.',
  ]),
  FLOW_VALIDATION_FAILED: row(-32004, 400, 'client', [
    'Not accepted: {reason}',
    'Correct the value that `data` names.',
  ]),
  FLOW_TIMEOUT: row(-32005, 504, 'upstream', [
    '{what} took longer than {ms} ms',
    'Try again, or find out why the tool is slow.',
  ]),
  FLOW_ALREADY_CANCELLED: row(-32006, 409, 'client', [
    'Session already cancelled: {sessionId}',
    'Nothing to do; start the tool again if you want it after all.',
  ]),
  FLOW_NOT_INTERACTIVE: row(-32007, 400, 'client', [
    '{tool} is not interactive',
    'Call it with tools/call and all its arguments.',
  ]),
  FLOW_LIMIT: row(-32000, 429, 'client', [
    'Rate limit exceeded: {what}',
    'Wait for `retryAfterMs`, or raise the limit that `data.limit` names.',
  ]),
  FLOW_FAILED: row(-32603, 500, 'upstream', ['{tool} failed: {reason}', 'Report it to the author of the tool.']),
  FLOW_EFFECT_UNKNOWN: row(-32603, 500, 'upstream', [
    'It is unknown whether {step} has happened',
    'Find out by hand; give the step a `check` so that Parley can find out.',
  ]),
  FLOW_MISUSED: row(-32603, 500, 'config', [
    'A mistake in {flow}: {reason}',
    'Correct it; docs/flows.md has the rules.',
  ]),
  FLOW_UNJOURNALED: row(-32603, 500, 'config', [
    'The body of {tool} used an unrecorded operation ({what}) at {where}',
    'Do that in ask.step, so that it is recorded and not repeated in every turn.',
  ]),
  FLOW_REACHES_OUT: row(-32603, 500, 'config', [
    '{file} used an unrecorded operation ({what}) at {where}; it was blocked',
    'Do that in ask.step, and nothing at module scope; a flow need not be explored if it declares its `input`.',
  ]),
  FLOW_CHANGED: row(-32603, 500, 'config', [
    '{tool} has changed under an open session: {change}',
    'The session is kept: serve a version that supports it, or declare the change with `migrate` or `ask.version`.',
  ]),
  FLOW_NOT_POSSIBLE: row(-32603, 409, 'client', [
    'Session {sessionId} cannot be {what}: {reason}',
    'Look at it with `parley flows show`.',
  ]),
  FLOW_TOO_LARGE: row(-32603, 500, 'config', [
    '{what} is larger than {limit} bytes',
    'Store large values elsewhere, and only references in the flow.',
  ]),
  SERVER_UNKNOWN: row(-32602, 404, 'client', [
    'No server or group is called {server}',
    'See `parley ls` for the names.',
  ]),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

function row(code: number, status: number, fault: Fault, [message, hint]: [string, string]): ErrorRow {
  return { code, status, fault, message, hint };
}
