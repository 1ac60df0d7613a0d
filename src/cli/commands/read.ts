// `parley read`: prints one resource on stdout, unchanged to a file or pipe, and made safe on a terminal.
import type { ReadCommand } from '../args/command.ts';
import { withConnection } from '../running/with-connection.ts';
import type { Printer } from '../terminal/print.ts';

export function runRead(command: ReadCommand, print: Printer): Promise<number> {
  return withConnection(command, print, async ({ client }) => {
    const result = await client.readResource(command.uri);
    if (command.json) print.line(JSON.stringify(result, undefined, 2));
    else {
      for (const part of result.contents) {
        if ('text' in part) print.content(`${part.text}\n`);
        else print.content(Buffer.from(part.blob, 'base64'));
      }
    }
    return 0;
  });
}
