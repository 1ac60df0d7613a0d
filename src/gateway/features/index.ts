// All features of a gateway, outermost first, with the reason for each place. A new feature is its folder, its line in FEATURES, and its options
// and settings below.
import { accounts } from './accounts/feature.ts';
import type { AccountSettings, AccountsFeatureOptions } from './accounts/feature.ts';
import { audit } from './audit/feature.ts';
import type { AuditFeatureOptions } from './audit/feature.ts';
import { consoleFeature } from './console/feature.ts';
import type { ConsoleFeatureOptions } from './console/feature.ts';
import { cluster } from './cluster/feature.ts';
import type { ClusterFeatureOptions, PlacementSettings } from './cluster/feature.ts';
import type { FeatureKind } from './feature.ts';
import { lastLists } from './last-lists/feature.ts';
import { listChecks } from './list-checks/feature.ts';
import { mcpFlow } from './flow/feature.ts';
import { observe } from './observe/feature.ts';
import type { ObserveFeatureOptions } from './observe/feature.ts';
import { pins } from './pins/feature.ts';
import type { PinSettings, PinsFeatureOptions } from './pins/feature.ts';
import { questions } from './questions/feature.ts';
import { rate } from './rate/feature.ts';
import type { RateFeatureOptions, RateSettings } from './rate/feature.ts';
import { rules } from './rules/feature.ts';
import type { RulesFeatureOptions, RulesSettings } from './rules/feature.ts';
import { scopes } from './scopes/feature.ts';
import { toolRules } from './filter/feature.ts';
import type { ToolSettings } from './filter/feature.ts';

export const FEATURES: readonly FeatureKind<FeatureOptions>[] = [
  audit, // watches calls, and so has no place among the layers
  consoleFeature, // sees who is there, refused calls included
  cluster, // counts what goes to other gateways, which is decided before all layers; opens servers that exist once before `accounts` opens them
  observe, // counts and traces all that is not refused by the listener
  rate, // refuses before anything is done for a caller
  mcpFlow, // turns sessions of MCP Flow into calls, which all others judge
  questions, // finds a person for whatever is asked behind it
  accounts, // opens a server for each user, if users have accounts there
  lastLists, // keeps what the features after it have let through
  listChecks, // checks what a server lists
  pins, // holds back what has changed there
  scopes, // what a caller may do at all, before anything asks a person
  toolRules, // the settings of one server
  rules, // innermost: they judge exactly what a server will get
];

/** The options of createGateway that features read. */
export interface FeatureOptions
  extends
    AccountsFeatureOptions,
    AuditFeatureOptions,
    ConsoleFeatureOptions,
    ClusterFeatureOptions,
    ObserveFeatureOptions,
    PinsFeatureOptions,
    RateFeatureOptions,
    RulesFeatureOptions {}

/** The settings of one server that features read. */
export interface FeatureSettings
  extends AccountSettings, PinSettings, PlacementSettings, RateSettings, RulesSettings, ToolSettings {}

/** Options that can be replaced while clients are connected: those of features that have `update`. */
export interface LiveFeatureOptions
  extends AuditFeatureOptions, PinsFeatureOptions, RateFeatureOptions, RulesFeatureOptions {}
