// `node pipe.mjs COMMAND…`: bytes from end to end. No gateway can be this: it could not tell one message from the next.
import { spawn } from 'node:child_process';

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
child.on('exit', () => process.exit());
