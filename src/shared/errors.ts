// Every error Parley itself raises, in one table. docs/errors.md is this table; a test keeps both equal.
// GatewayError carries a code of the table: which number and words a peer is told is decided by its dialect.
// ProtocolError carries a number as it came from, or must go to, a peer; it passes unchanged.

export type Fault = 'client' | 'upstream' | 'parley' | 'config';

export interface ErrorRow {
  /** What happened; `{name}` is filled from the details. */
  message: string;
  /** What to do about it. */
  hint: string;
  /** JSON-RPC code where no dialect says otherwise. */
  code: number;
  /** HTTP status when nothing has been sent yet. */
  status: number;
  fault: Fault;
}

export const ERRORS = {
  PARSE_ERROR: row('Parse error', 'Send one complete JSON text per message, in UTF-8.', -32700, 400, 'client'),
  INVALID_REQUEST: row(
    'Invalid Request',
    'Send a JSON-RPC 2.0 message; `data` says what is wrong with it.',
    -32600,
    400,
    'client',
  ),
  METHOD_NOT_FOUND: row(
    'Method not found',
    'Use a method that the negotiated revision has and the server offers.',
    -32601,
    404,
    'client',
  ),
  INVALID_PARAMS: row('Invalid params', 'Correct the parameter that `data` names.', -32602, 400, 'client'),
  INVALID_ARGUMENTS: row(
    'Invalid arguments for tool {tool}: {reason}',
    "Match the tool's input schema.",
    -32602,
    200,
    'client',
  ),
  TOOL_NOT_FOUND: row(
    'Unknown tool: {name}',
    'List the tools again; it may have been removed or renamed.',
    -32602,
    200,
    'client',
  ),
  PROMPT_NOT_FOUND: row('Unknown prompt: {name}', 'List the prompts again.', -32602, 200, 'client'),
  RESOURCE_NOT_FOUND: row('Resource not found: {uri}', 'List the resources again.', -32002, 200, 'client'),
  TASK_NOT_FOUND: row(
    'Unknown task: {taskId}',
    'It never existed, has expired, or belongs to somebody else.',
    -32602,
    200,
    'client',
  ),
  TASK_REQUIRED: row(
    'Tool {tool} runs only as a task',
    'Call it with a client that can follow tasks.',
    -32601,
    400,
    'client',
  ),
  ACCESS_DENIED: row('Access denied: {uri}', 'Ask for a resource that policy allows.', -32602, 200, 'client'),
  INTERNAL: row('Internal error', 'See the log for the exchange id in `data`.', -32603, 500, 'parley'),
  TOOL_UNREACHABLE: row(
    'Tool execution failed',
    'The server that owns the tool could not bring the call to an end; try again.',
    -32603,
    200,
    'upstream',
  ),
  CANCELLED: row('Request cancelled', 'Nothing to do: the client gave up on it.', -32603, 200, 'client'),
  TOO_MANY: row('Too many {what}', 'Wait for some to finish, or raise limits.{limit}.', -32000, 429, 'client'),
  MESSAGE_TOO_LARGE: row(
    'Message larger than {limit} bytes',
    'Send less, or raise limits.{name}.',
    -32600,
    413,
    'client',
  ),
  NESTED_TOO_DEEP: row(
    'Message nested deeper than {limit} levels',
    'Flatten it, or raise limits.maxDepth.',
    -32600,
    400,
    'client',
  ),
  CLIENT_CANNOT_BE_ASKED: row(
    'The client cannot be asked: {what}',
    'Use a client that declares this capability.',
    -32021,
    400,
    'client',
  ),
  ASK_REFUSED: row(
    'The client refused to answer {method}: {reason}',
    "Nothing to do: it was the user's or the client's choice.",
    -32603,
    200,
    'client',
  ),
  STATE_INVALID: row(
    'Invalid or expired requestState',
    'Start the call again without requestState.',
    -32602,
    400,
    'client',
  ),
  NOT_ALLOWED: row(
    'Refused: {reason}',
    'Call from an allowed Host and Origin; see docs/eras.md.',
    -32000,
    403,
    'client',
  ),
  SESSION_MISSING: row(
    'Bad Request: Mcp-Session-Id header is required',
    'Send the id from the initialize answer, or initialize first.',
    -32000,
    400,
    'client',
  ),
  SESSION_NOT_FOUND: row('Session not found', 'Initialize again, without a session id.', -32001, 404, 'client'),
  NOT_ACCEPTABLE: row(
    'Not Acceptable: {reason}',
    'Send the Accept header that the message names.',
    -32000,
    406,
    'client',
  ),
  WRONG_MEDIA_TYPE: row(
    'Unsupported Media Type: Content-Type must be application/json',
    'Send Content-Type: application/json.',
    -32000,
    415,
    'client',
  ),
  HTTP_METHOD: row('Method Not Allowed', 'Use the HTTP methods named in the Allow header.', -32000, 405, 'client'),
  UNSUPPORTED_VERSION: row(
    'Unsupported protocol version: {requested}',
    'Use one of the versions in `data.supported`.',
    -32602,
    400,
    'client',
  ),
  HEADER_MISMATCH: row(
    'Header mismatch: {reason}',
    'Mirror the body into the Mcp-* headers exactly.',
    -32020,
    400,
    'client',
  ),
  UPSTREAM_TIMEOUT: row(
    '{server} did not answer {method} within {ms} ms',
    'Raise the timeout, or see why the server is slow.',
    -32603,
    504,
    'upstream',
  ),
  UPSTREAM_CLOSED: row(
    'The connection to {server} closed: {reason}',
    "Look at the server's own output; reconnect.",
    -32603,
    502,
    'upstream',
  ),
  UPSTREAM_UNREACHABLE: row(
    'Cannot reach {server}: {reason}',
    'Check the command or URL, and that the server runs.',
    -32603,
    502,
    'upstream',
  ),
  UPSTREAM_INVALID: row(
    '{server} sent something invalid: {reason}',
    'Report it to the author of the server.',
    -32603,
    502,
    'upstream',
  ),
  UPSTREAM_UNAUTHORIZED: row(
    '{server} refused the credentials: HTTP {status}',
    'Check the token or headers for this server.',
    -32603,
    502,
    'upstream',
  ),
  NO_COMMON_VERSION: row(
    '{server} speaks no revision in common: it offers {offered}',
    'Unpin the revision, or update one side.',
    -32603,
    502,
    'upstream',
  ),
  NOT_SUPPORTED: row('{server} does not support {what}', 'Check its capabilities first.', -32601, 200, 'upstream'),
  NOT_APPROVED: row('{what} was not approved', 'Approve it, or do without.', -32603, 200, 'client'),
  BAD_OPTION: row('{option}: {reason}', 'Correct the option.', -32603, 500, 'config'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

export class GatewayError extends Error {
  readonly code: ErrorCode;
  /** Fills the message; dialects build `error.data` from it. Never holds a secret. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, details: Record<string, unknown> = {}, options?: ErrorOptions) {
    super(fill(ERRORS[code].message, details), options);
    this.name = 'GatewayError';
    this.code = code;
    this.details = details;
  }

  get row(): ErrorRow {
    return ERRORS[this.code];
  }
}

export class ProtocolError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'ProtocolError';
    this.code = code;
    this.data = data;
  }
}

function fill(template: string, details: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? name));
}

function row(message: string, hint: string, code: number, status: number, fault: Fault): ErrorRow {
  return { message, hint, code, status, fault };
}
