// `parley status`: how the servers of the running gateway are. Exit status 1 when one is failing, or when there is no gateway.
import { surroundings } from '../around.ts';
import type { StatusCommand } from '../command.ts';
import { errorWords } from '../error-words.ts';
import { fetchStatus, findGateway } from '../find-gateway.ts';
import type { Printer } from '../print.ts';
import { stateFolder } from '../state-file.ts';
import { failing, toStatusLines } from '../status-lines.ts';
import type { GatewayStatus } from '../status-page.ts';

export async function status(command: StatusCommand, print: Printer): Promise<number> {
  let found: { url: string; status: GatewayStatus } | undefined;
  try {
    found = command.url === undefined ? await findGateway(stateFolder(surroundings())) : await at(command.url);
  } catch (thrown) {
    print.problem(errorWords(thrown));
    return 1;
  }
  if (!found) {
    print.problem('no gateway is running here. Start one with "parley serve", or name one with --url.');
    return 1;
  }
  const { url, status } = found;
  if (command.json) print.line(JSON.stringify({ url, ...status }, undefined, 2));
  else for (const line of toStatusLines(status, { url, print })) print.line(line);
  return status.servers.some(failing) ? 1 : 0;
}

async function at(url: string): Promise<{ url: string; status: GatewayStatus }> {
  return { url, status: await fetchStatus(url) };
}
