// One gateway with one kind of login, as a process of its own. Says its URL, and its CPU time when asked.
import { createGateway, createServer } from '../../dist/_entries/index.js';

const auth = JSON.parse(process.argv[2]);
const hello = createServer({ name: 'hello', version: '1.0.0' });
hello.tool('hello', {}, () => 'hello');
const gateway = createGateway({ servers: { hello }, ...(auth && { auth }) });
const { url } = await gateway.listen({ port: 0 });
process.on('message', () => process.send({ cpu: process.cpuUsage() }));
process.on('disconnect', () => process.exit(0));
process.send({ url });
