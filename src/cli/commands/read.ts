// `parley read`: one resource, on stdout: as it is where that goes to a file, and without harm on a terminal.
import type { ReadCommand } from '../command.ts';
import { withReached } from '../with-reached.ts';
import type { Printer } from '../terminal/print.ts';

export function read(command: ReadCommand, print: Printer): Promise<number> {
  return withReached(command, print, async ({ client }) => {
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
