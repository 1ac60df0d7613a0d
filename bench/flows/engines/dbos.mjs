// DBOS as a library, on a PostgreSQL of its own. A question is an event of the workflow, an answer is a message to it.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { randomUUID } from 'node:crypto';
import { plainTrip } from '../plain-trip.mjs';
import { postgres } from '../servers.mjs';

const workflow = DBOS.registerWorkflow(
  async () => {
    let at = 0;
    const ask = async (key, { message }) => {
      await DBOS.setEvent(`q${at++}`, { key, message });
      return DBOS.recv(undefined, 3600);
    };
    const result = await plainTrip(ask, (name, run) => DBOS.runStep(run, { name }));
    await DBOS.setEvent(`q${at}`, { result });
    return result;
  },
  { name: 'trip' },
);

/** `config` goes to DBOS as it is. */
export async function open({ config = {} }) {
  const { pid, url } = await postgres();
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error', ...config });
  await DBOS.launch();
  const question = async (id, at) => {
    const asked = await DBOS.getEvent(id, `q${at}`, 60);
    if (asked === null) throw new Error(`no question ${at}`);
    return { id, at, ...asked };
  };
  const api = {
    async start() {
      const id = randomUUID();
      await DBOS.startWorkflow(workflow, { workflowID: id })();
      return question(id, 0);
    },
    async answer({ id, at }, value) {
      await DBOS.send(id, value);
      return question(id, at + 1);
    },
    close: () => DBOS.shutdown(),
  };
  return { api, server: pid };
}
