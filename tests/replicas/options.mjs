// What makes a gateway one of the replicas that processes.mjs starts.
import { openSharedState } from 'mcp-parley';

const KEYS = ['a key that all replicas of a run share'];

/** For `createGateway`. */
export async function optionsOf({ REPLICA_INTERNAL, REPLICA_STATE, REPLICA_PUBLIC } = process.env) {
  const internal = Number(REPLICA_INTERNAL);
  const state = await openSharedState(REPLICA_STATE, { keys: KEYS });
  return {
    keys: KEYS,
    state,
    publicUrl: REPLICA_PUBLIC,
    cluster: { listen: internal, host: '127.0.0.1', advertise: `http://127.0.0.1:${internal}` },
  };
}
