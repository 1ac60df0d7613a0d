// Brings a running gateway from one configuration to the next, touching only what differs.
import type { ServerEntry } from '../gateway/gateway.ts';
import type { Naming } from '../gateway/router/names.ts';
import type { Step, StepFunction } from '../protocol/step.ts';
import { toEntries, toGroups } from './build.ts';
import type { ParleyConfig } from './config.ts';
import { difference } from './difference.ts';
import type { Difference } from './difference.ts';
import { buildSteps } from './steps.ts';
import type { StepSource } from './steps.ts';

export interface GatewayUpdate {
  /** All of them, in order. The entry of a server that has not changed is the very same object as before. */
  servers: Record<string, ServerEntry>;
  groups: Record<string, string[]>;
  names: Naming;
  /** Absent: as they are, with what they remember. */
  steps?: (Step | StepFunction)[];
}

/** A gateway that keeps servers whose entry is the same, and lets those that go finish what they are doing. */
export interface UpdatableGateway {
  update(update: GatewayUpdate): Promise<void> | void;
}

export interface ApplyOptions {
  steps: StepSource;
  /** A file of a step has changed, though the configuration has not. */
  stepsChanged?: boolean | undefined;
}

export async function applyConfig(
  gateway: UpdatableGateway,
  previous: ParleyConfig,
  next: ParleyConfig,
  options: ApplyOptions,
): Promise<Difference> {
  const different = difference(previous, next);
  const rebuild = different.steps || options.stepsChanged;
  // Made first: if one cannot be loaded, nothing has been touched yet.
  const steps = rebuild ? await buildSteps(next, options.steps) : undefined;
  const kept = toEntries(previous);
  const servers = toEntries(next);
  for (const name of different.unchanged) servers[name] = kept[name]!;
  await gateway.update({ servers, groups: toGroups(next), names: next.names, ...(steps && { steps }) });
  return different;
}
