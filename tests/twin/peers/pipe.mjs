// The process of a server on stdio: carries lines to and from the runner, and ends when the runner ends the connection.
import { connect } from 'node:net';

const socket = connect(Number(process.argv[2]), '127.0.0.1');
process.stdin.pipe(socket);
socket.pipe(process.stdout);
socket.on('error', () => process.exit(1)).on('close', () => process.exit(1));
