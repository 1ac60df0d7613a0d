// The keys of a configuration that belong to features. What they are called is the same as in the options of createGateway, and in the settings
// of a server; only `audit` and `state` are objects there, which the command line makes.
import { stateKey } from '../../kernel/state/state-key.ts';
import { accountKey } from './accounts/config.ts';
import { auditKey } from './audit/config.ts';
import { consoleKey } from './console/config.ts';
import { serverToolsKey } from './filter/config.ts';
import { clusterKey, placementKey } from './cluster/config.ts';
import { observeKey } from './observe/config.ts';
import { pinsKey, serverPinsKey } from './pins/config.ts';
import { rateKey, serverRateKey } from './rate/config.ts';
import { rulesKey, trustAnnotationsKey } from './rules/config.ts';

export const FEATURE_KEYS = {
  rules: rulesKey,
  pins: pinsKey,
  rate: rateKey,
  observe: observeKey,
  console: consoleKey,
  audit: auditKey,
  cluster: clusterKey,
  state: stateKey,
};

/** In the entry of a server; `live`: it takes effect without opening the server again. */
export const SERVER_FEATURE_KEYS = {
  tools: serverToolsKey,
  account: accountKey,
  trustAnnotations: trustAnnotationsKey,
  rate: serverRateKey,
  pins: serverPinsKey,
  placement: placementKey,
};
