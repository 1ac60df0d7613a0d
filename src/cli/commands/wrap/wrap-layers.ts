// What a call to a wrapped server passes: the audit log, lines about calls, the steps of the command line, and how people are asked. Loaded before the
// first answer, so whatever is not always needed is loaded late.
import { AuditWatcher } from '../../../gateway/features/audit/audit-watcher.ts';
import { openOwnAudit } from '../../../gateway/features/audit/own-audit.ts';
import { EventsLayer } from '../../../gateway/events-layer.ts';
import { createPipeline } from '../../../gateway/pipeline.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { EventHub } from '../../../kernel/events/event-hub.ts';
import type { Exchange } from '../../../kernel/exchange.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import { ObservedLayer } from '../../../kernel/target.ts';
import type { Layer, Handle, Target } from '../../../kernel/target.ts';
import { HumanChannel } from '../../../people/human-channel.ts';
import type { HumanChannelOptions } from '../../../people/human-channel.ts';
import type { WrapCommand } from '../../args/serving-commands.ts';
import { tellPerson } from '../../serving/tell-person.ts';
import type { WrapSteps } from './wrap-steps.ts';

type Around = Omit<ConstructorParameters<typeof HumanChannel>[1], 'events'> & { log: Log };

export class WrapLayers {
  readonly people: HumanChannel;
  readonly events: EventHub;
  readonly #command: WrapCommand;
  readonly #name: string;
  readonly #log: Log;
  readonly #audit: { close(): Promise<void> } | undefined;
  #steps: WrapSteps | undefined;

  constructor(command: WrapCommand, name: string, around: Around) {
    const { log } = around;
    const events = (this.events = new EventHub({ log }));
    this.#command = command;
    this.#name = name;
    this.#log = log;
    const audit = (this.#audit = command.isRecorded ? openOwnAudit({ log }) : undefined);
    if (audit) events.watch(new AuditWatcher(audit));
    this.people = new HumanChannel(personOf(command, name), { ...around, events });
  }

  /** Rejects if a step cannot be loaded. */
  async before(wrapped: Target): Promise<Target> {
    const { steps: files, logCalls } = this.#command;
    const name = this.#name;
    const observed: Layer = (next) => new EventsLayer(next, this.events, name);
    const observe = logCalls ? await createCallLogLayer(name) : undefined;
    if (files.length > 0) {
      const { WrapSteps: Steps } = await import('./wrap-steps.ts');
      this.#steps = await Steps.open(files, { name, target: wrapped, log: this.#log });
    }
    const layers = { events: observed, observe, questions: this.people.layer, flows: this.#steps?.flows };
    return createPipeline(this.#steps?.target ?? wrapped, layers);
  }

  /** `target`: the server, whose last events are recorded. */
  async close(target: { close(): Promise<unknown> }): Promise<void> {
    const closed = target.close().finally(() => this.#audit?.close());
    await Promise.all([this.people.close(), this.#steps?.close(), closed]);
  }
}

/** How people are asked, and which clients may answer for a person. */
function personOf({ isAsking }: WrapCommand, name: string): HumanChannelOptions {
  const ask = { notify: tellPerson(), ...(isAsking ? {} : { channels: [] }) };
  return { ask, stateFolder: ownStateFolder(), pairedAs: `wrap ${name}` };
}

/** Logs one line for each call. */
async function createCallLogLayer(name: string): Promise<Layer> {
  const { CallLog } = await import('../../serving/call-log.ts');
  const lines = new CallLog();
  const around = (exchange: Exchange, handle: Handle) => {
    const work = async () => handle(exchange);
    return lines.record(exchange, work, { resultOf: (result) => result, serverOf: () => name });
  };
  return (next) => new ObservedLayer(next, around);
}
