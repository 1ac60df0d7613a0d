// Updates a running gateway to a new configuration, and changes only what differs.
import type { ServerEntry } from '../../gateway/server-entry.ts';
import type { FeatureChanges } from '../../gateway/gateway-options.ts';
import type { Step } from '../../kernel/step.ts';
import { keepEntry, keepOpening, toEntries, toGroups, buildSteps } from './build-gateway.ts';
import type { ParleyConfig } from '../config.ts';
import { requireExpressions } from '../check/check-rules.ts';
import { compareConfigs, keysOfFeatures } from './compare-configs.ts';
import type { ConfigDifference } from './compare-configs.ts';
import type { BuiltSteps, BuildStepOptions } from './build-gateway.ts';

/** With the keys of features that have changed; undefined: they are gone. */
export interface GatewayUpdate extends Omit<FeatureChanges, 'audit' | 'auditArguments'> {
  /** What is to be recorded; who updates a gateway makes the recorder. Absent: unchanged. */
  audit?: ParleyConfig['audit'] | undefined;
  /** All servers, in order. An unchanged server keeps the same entry object, and one that stays open what opened it. */
  servers: Record<string, ServerEntry>;
  groups: Record<string, string[]>;
  names: ParleyConfig['names'];
  /** Undefined: the default. */
  startMs: number | undefined;
  /** Absent: unchanged. */
  roots?: ParleyConfig['roots'];
  /** Absent: unchanged. */
  auth?: ParleyConfig['auth'];
  /** Absent: unchanged; undefined: the default. */
  ask?: ParleyConfig['ask'] | undefined;
  /** Absent: unchanged, with their state. */
  steps?: Step[];
}

/** A gateway that keeps servers with the same entry, and lets removed ones finish their calls. */
export interface UpdatableGateway {
  update(update: GatewayUpdate): Promise<void> | void;
}

interface ConfigTransition {
  previous: ParleyConfig;
  next: ParleyConfig;
  /** Default: that of these two. */
  difference?: ConfigDifference;
  /** The running steps; closed here when new ones replace them. */
  steps: BuiltSteps;
}

/** Resolves with the steps that run from now on. If it fails, nothing has changed. */
export async function applyConfig(
  gateway: UpdatableGateway,
  { previous, next, difference = compareConfigs(previous, next), steps: former }: ConfigTransition,
  options: BuildStepOptions,
): Promise<BuiltSteps> {
  const changed = new Set(difference.live);
  if (changed.has('rules')) await requireExpressions(next.rules);
  // Built first: if a step fails to load, nothing has changed yet.
  const steps = changed.has('steps') ? await buildSteps(next, options) : undefined;
  for (const name of difference.unchanged) keepEntry(previous.servers[name]!, next.servers[name]!);
  for (const name of difference.settled) keepOpening(previous.servers[name]!, next.servers[name]!);
  try {
    const groups = toGroups(next);
    await gateway.update({
      servers: toEntries(next),
      groups,
      names: next.names,
      startMs: next.startMs,
      ...(changed.has('roots') && next.roots && { roots: next.roots }),
      ...(changed.has('auth') && next.auth && { auth: next.auth }),
      ...(changed.has('ask') && { ask: next.ask }),
      ...Object.fromEntries(keysOfFeatures('live').flatMap((key) => (changed.has(key) ? [[key, next[key]]] : []))),
      ...(steps && { steps: steps.steps }),
    });
  } catch (thrown) {
    steps?.close();
    throw thrown;
  }
  if (steps) former.close();
  return steps ?? former;
}
