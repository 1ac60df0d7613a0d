import { createServer } from 'mcp-parley';
import { serveFlows } from 'mcp-parley/flow';
import { trip } from './trip.mjs';

const keys = [process.env.TRIP_KEY]; // the same in every process: what one has asked, another can go on with
const server = createServer({ name: 'trips', version: '1.0.0', keys });
serveFlows(server, [trip], { keys });
const { url } = await server.listen({ port: Number(process.env.PORT ?? 8080) });
console.log(url);
