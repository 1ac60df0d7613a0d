// Records what this process reads on stdin and writes on stdout, as lines of JSON in a file. For servers under test that
// are programs of the tests: call it before the server starts. The streams themselves are left as they are.
import { appendFileSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

export function tapStdio(file) {
  const record = (from) => (line) => {
    const message = parse(line);
    if (message !== undefined)
      appendFileSync(file, `${JSON.stringify({ on: `stdio:${process.pid}`, from, message })}\n`);
  };
  const [heard, said] = [toLines(record('client')), toLines(record('server'))];
  const { stdin, stdout } = process;
  const push = stdin.push.bind(stdin);
  stdin.push = (chunk, encoding) => {
    if (chunk) heard(chunk);
    return push(chunk, encoding);
  };
  const write = stdout.write.bind(stdout);
  stdout.write = (chunk, ...rest) => {
    said(chunk);
    return write(chunk, ...rest);
  };
}

function toLines(onLine) {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return (chunk) => {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.write(chunk))).split('\n');
    rest = lines.pop();
    lines.forEach(onLine);
  };
}

/** Only JSON is recorded as a message; the receiver's error for anything else is recorded, too. */
function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
