// `node stdio-to-stdio.mjs COMMAND…`: as http-to-stdio.mjs, with a pipe in front.
import { spawn } from 'node:child_process';
import { eachLine, idAt } from './lines.mjs';

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const open = new Map();
let lastId = 0;

eachLine(process.stdin, (line) => {
  const message = JSON.parse(line);
  if (message.id !== undefined) {
    lastId += 1;
    open.set(String(lastId), JSON.stringify(message.id));
    message.id = lastId;
  }
  child.stdin.write(JSON.stringify(message) + '\n');
});

eachLine(child.stdout, (line) => {
  const { id, from, to } = idAt(line);
  const own = open.get(id);
  if (own === undefined) return;
  open.delete(id);
  const before = line.latin1Slice(0, from) + own;
  if (line.length < 4096) return process.stdout.write(`${before}${line.utf8Slice(to)}\n`);
  process.stdout.write(before);
  process.stdout.write(line.subarray(to));
  process.stdout.write('\n');
});
process.stdin.on('end', () => child.kill());
child.on('exit', () => process.exit());
