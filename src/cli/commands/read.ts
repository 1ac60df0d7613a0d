// `parley read`: one resource, on stdout. What is not text is written as it is.
import type { ReadCommand } from '../command.ts';
import { withReached } from '../with-reached.ts';
import type { Printer } from '../print.ts';

export function read(command: ReadCommand, print: Printer): Promise<number> {
  return withReached(command, print, async ({ client }) => {
    const result = await client.readResource(command.uri);
    if (command.json) print.line(JSON.stringify(result, undefined, 2));
    else {
      for (const part of result.contents) {
        if ('text' in part) print.line(part.text);
        else print.bytes(Buffer.from(part.blob, 'base64'));
      }
    }
    return 0;
  });
}
