// The official JSON schemas, one per revision, compiled on first use: what a revision calls its definitions is found here
// and nowhere else.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { Ajv } = require('ajv');
const { Ajv2020 } = require('ajv/dist/2020.js');

/** A draft that was never published as a schema; our side speaks it as the revision before it. */
const STAND_IN = { 'DRAFT-2025-v3': '2025-06-18' };

export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

const loaded = new Map();

/** Undefined for revisions without a schema. */
export function schemaOf(revision) {
  const published = STAND_IN[revision] ?? revision;
  if (!REVISIONS.includes(published)) return undefined;
  if (!loaded.has(published)) loaded.set(published, new RevisionSchema(published));
  return loaded.get(published);
}

class RevisionSchema {
  #ajv;
  #definitions;
  #root;
  #byMethod = new Map();
  #compiled = new Map();

  constructor(revision) {
    this.revision = revision;
    const schema = JSON.parse(readFileSync(new URL(`../protocol-schemas/${revision}.json`, import.meta.url), 'utf8'));
    this.#root = schema.$defs ? '$defs' : 'definitions';
    this.#definitions = schema[this.#root];
    this.#ajv = createAjv(schema.$schema);
    this.#ajv.addSchema(schema, revision);
    for (const name of ['ClientRequest', 'ServerRequest', 'ClientNotification', 'ServerNotification'])
      this.#index(name);
  }

  /** The definition of a message with this method that this side may send; undefined if the revision has no such message. */
  definitionFor(kind, method) {
    return this.#byMethod.get(`${kind} ${method}`);
  }

  has(definition) {
    return definition in this.#definitions;
  }

  /** Problems as text; none when the value fits. */
  problems(definition, value) {
    const validate = this.#validator(definition);
    return validate(value)
      ? []
      : validate.errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  }

  #validator(definition) {
    if (!this.#compiled.has(definition)) {
      const $ref = `${this.revision}#/${this.#root}/${definition}`;
      this.#compiled.set(definition, this.#ajv.compile({ $ref }));
    }
    return this.#compiled.get(definition);
  }

  /** A union lists its members; a union of one is that member itself. */
  #index(union) {
    const definition = this.#definitions[union];
    if (!definition) return;
    const members = definition.anyOf ? definition.anyOf.map(({ $ref }) => $ref.split('/').at(-1)) : [union];
    for (const name of members) this.#byMethod.set(`${union} ${this.#definitions[name].properties.method.const}`, name);
  }
}

function createAjv(dialect) {
  const options = { strict: false, allErrors: true, formats: FORMATS };
  return dialect.includes('2020-12') ? new Ajv2020(options) : new Ajv(options);
}

const FORMATS = {
  uri: (text) => URL.canParse(text),
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  'uri-template': (text) => !/[{}]/.test(text.replaceAll(/\{[^{}]+\}/g, '')),
};
