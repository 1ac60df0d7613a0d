// The audit log of this user's gateways, in the state folder.
import { auditFolder } from './audit-folder.ts';
import { createAuditLog } from './audit-log.ts';
import type { AuditLog } from './audit-log.ts';
import type { AuditLogOptions } from './audit-log-options.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import type { Limits } from '../../../kernel/base/limits.ts';
import type { AuditConfig } from './config.ts';
import type { AuditFeatureOptions } from './feature.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { toShape } from './argument-shape.ts';
import { secrets } from '../../../kernel/secrets/secrets.ts';

const MAX_LOGGED = 4096;

export function ownAuditFolder(): string {
  return auditFolder(ownStateFolder());
}

export function openOwnAudit(options: Omit<AuditLogOptions, 'folder'>): AuditLog {
  return createAuditLog({ ...options, folder: ownAuditFolder() });
}

type Wanted = false | AuditConfig | undefined;

interface OpenedAudit {
  log: AuditLog;
  show: ((given: unknown) => unknown) | undefined;
}

/** The audit log of `parley serve`, as the configuration wants it. What is recorded, and where its heads go, can change while it is open. */
export class ServeAudit {
  readonly #around: { log: Log; limits?: Partial<Limits> | undefined };
  #opened: OpenedAudit | undefined;
  readonly #options: AuditFeatureOptions = {
    audit: (event) => this.#opened?.log.record(event),
    auditArguments: (given) => (this.#opened?.show ?? toShape)(given),
  };

  private constructor(around: { log: Log; limits?: Partial<Limits> | undefined }, opened: OpenedAudit | undefined) {
    this.#around = around;
    this.#opened = opened;
  }

  static async open(
    { audit, limits }: { audit?: Wanted; limits?: Partial<Limits> | undefined },
    log: Log,
  ): Promise<ServeAudit> {
    const around = { log, limits };
    return new ServeAudit(around, await openAs(audit, around));
  }

  /** For the gateway: of nothing, if it is switched off. */
  get options(): AuditFeatureOptions {
    return this.#opened ? this.#options : { audit: undefined, auditArguments: undefined };
  }

  /** Opens another one, and closes the former. Rejects if it cannot, and then nothing changes. What it returns goes back to the former. */
  async replace(audit: Wanted): Promise<{ keep(): Promise<void>; undo(): Promise<void> }> {
    const before = this.#opened;
    const next = await openAs(audit, this.#around);
    this.#opened = next;
    return {
      keep: async () => before?.log.close(),
      undo: async () => {
        this.#opened = before;
        await next?.log.close();
      },
    };
  }

  async close(): Promise<void> {
    await this.#opened?.log.close();
  }
}

async function openAs(audit: Wanted, around: Omit<AuditLogOptions, 'folder'>): Promise<OpenedAudit | undefined> {
  if (audit === false) return undefined;
  const show = audit?.arguments === 'values' ? await createArgumentsLog() : undefined;
  return { log: openOwnAudit({ ...around, heads: audit?.heads }), show };
}

/** Arguments as values, for those who want them: without what looks like a secret, and not more than a few kilobytes. */
async function createArgumentsLog(): Promise<(given: unknown) => unknown> {
  const { Redactor, SECRET_KEYS, SECRET_PATTERNS } = await import('../redact/redact.ts');
  const redactor = new Redactor(SECRET_PATTERNS, SECRET_KEYS, '[redacted]');
  return (given) => {
    const shown = secrets.maskDeep(redactor.value(given));
    return (JSON.stringify(shown) ?? '').length <= MAX_LOGGED ? shown : toShape(given);
  };
}
