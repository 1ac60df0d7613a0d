// Brings a running gateway from one configuration to the next, touching only what differs.
import type { ServerEntry } from '../../gateway/gateway.ts';
import type { Step } from '../../protocol/step.ts';
import { keepEntry, toEntries, toGroups } from './build-gateway.ts';
import type { ParleyConfig } from '../config.ts';
import { compareConfigs } from './compare-configs.ts';
import { buildSteps } from './build-steps.ts';
import type { BuiltSteps, BuildStepOptions } from './build-steps.ts';

export interface GatewayUpdate {
  /** All of them, in order. The entry of a server that has not changed is the very same object as before. */
  servers: Record<string, ServerEntry>;
  groups: Record<string, string[]>;
  names: ParleyConfig['names'];
  /** Absent: as they are. */
  roots?: ParleyConfig['roots'];
  /** Absent: as they are, with what they remember. */
  steps?: Step[];
}

/** A gateway that keeps servers whose entry is the same, and lets those that go finish what they are doing. */
export interface UpdatableGateway {
  update(update: GatewayUpdate): Promise<void> | void;
}

export interface ConfigTransition {
  previous: ParleyConfig;
  next: ParleyConfig;
  /** Those that run; closed here when others take their place. */
  steps: BuiltSteps;
}

/** Resolves with the steps that run from now on. If it fails, everything is as it was. */
export async function applyConfig(
  gateway: UpdatableGateway,
  { previous, next, steps: former }: ConfigTransition,
  options: BuildStepOptions,
): Promise<BuiltSteps> {
  const different = compareConfigs(previous, next);
  // Made first: if one cannot be loaded, nothing has been touched yet.
  const steps = different.steps ? await buildSteps(next, options) : undefined;
  for (const name of different.unchanged) keepEntry(previous.servers[name]!, next.servers[name]!);
  try {
    const roots = different.roots && next.roots ? { roots: next.roots } : {};
    const groups = toGroups(next);
    await gateway.update({
      servers: toEntries(next),
      groups,
      names: next.names,
      ...roots,
      ...(steps && { steps: steps.steps }),
    });
  } catch (thrown) {
    steps?.close();
    throw thrown;
  }
  if (steps) former.close();
  return steps ?? former;
}
