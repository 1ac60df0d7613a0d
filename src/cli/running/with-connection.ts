// Runs the work of a command with a connection. Prints errors, and closes the connection at the end.
import type { TargetOptions } from '../args/command.ts';
import { formatError } from '../terminal/format-error.ts';
import type { Printer } from '../terminal/print.ts';
import { connectForCommand } from './connect-for-command.ts';
import type { CommandConnection } from './connect-for-command.ts';
import { untilSignal } from '../signals.ts';

/** Resolves with the exit status. */
export function withConnection(
  wanted: TargetOptions,
  print: Printer,
  work: (connection: CommandConnection) => Promise<number>,
): Promise<number> {
  return Promise.race([tryTo(wanted, print, work), untilSignal().then(() => 1)]);
}

async function tryTo(
  wanted: TargetOptions,
  print: Printer,
  work: (connection: CommandConnection) => Promise<number>,
): Promise<number> {
  let connection: CommandConnection | undefined;
  try {
    connection = await connectForCommand(wanted, {}, print);
    return connection ? await work(connection) : 1;
  } catch (thrown) {
    print.problem(formatError(thrown));
    return 1;
  } finally {
    await connection?.close();
  }
}
