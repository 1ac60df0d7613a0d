// Follows a recorded conversation and checks what our side says in it against the schema of the revision that was agreed
// on. Nothing is told from outside: the revision is what the conversation itself says, as each message is heard.
import { checkMessage } from './check-message.mjs';
import { REVISIONS, schemaOf } from './schemas.mjs';

const NEWEST = REVISIONS.at(-1);
const META_VERSION = 'io.modelcontextprotocol/protocolVersion';

export class Conversation {
  /** Set by the handshake; `draft` for the draft dialect. */
  revision;
  #ours;
  #fallback;
  #requests = new Map();

  /** `ours`: client, server or both. `fallback`: the revision when nothing was said of it. */
  constructor({ ours, fallback }) {
    this.#ours = ours;
    this.#fallback = fallback;
  }

  /** What was found: each `{ message, revision, problems, request }`, or nothing. */
  hear({ from, message, hint }) {
    if (!Array.isArray(message)) return this.#one(from, message, hint);
    return message.flatMap((one) => this.#one(from, one, hint));
  }

  #one(from, message, hint) {
    const request = this.#requestOf(from, message);
    const revision = this.#known(this.#revisionOf(message, request, hint));
    this.#learn(from, message, request, revision);
    if (this.#ours !== 'both' && this.#ours !== from) return [];
    const problems = checkMessage({ from, message, revision, request });
    return problems.length > 0 ? [{ from, message, revision, request, problems }] : [];
  }

  /** The request that a response answers. */
  #requestOf(from, message) {
    if (!isObject(message) || message.method !== undefined || message.id === undefined) return undefined;
    return this.#requests.get(keyOf(from === 'client' ? 'server' : 'client', message.id));
  }

  #revisionOf(message, request, hint) {
    if (request) return isInitialize(request) ? (agreed(message) ?? request.revision) : request.revision;
    const params = isObject(message?.params) ? message.params : {};
    if (message?.method === 'initialize') return params.mcpVersion ? 'draft' : params.protocolVersion;
    const claimed = isObject(params._meta) ? params._meta[META_VERSION] : undefined;
    return this.revision ?? claimed ?? hint ?? this.#fallback;
  }

  /** What nobody here speaks is answered in the words of its era, as far as it can be told. */
  #known(revision) {
    if (revision === 'draft' || schemaOf(revision)) return revision;
    return /^\d{4}-/.test(revision) && revision > NEWEST ? NEWEST : this.#fallback;
  }

  #learn(from, message, request, revision) {
    if (!isObject(message)) return;
    if (message.method !== undefined && message.id !== undefined) {
      const { method, params } = message;
      this.#requests.set(keyOf(from, message.id), { method, params, revision });
    }
    if (request && isInitialize(request)) this.revision = agreed(message) ?? this.revision;
  }
}

function isInitialize(request) {
  return request.method === 'initialize';
}

/** What an answer to `initialize` settles. */
function agreed({ result }) {
  if (!isObject(result)) return undefined;
  return isObject(result.server) ? 'draft' : result.protocolVersion;
}

function keyOf(from, id) {
  return `${from} ${typeof id} ${id}`;
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
