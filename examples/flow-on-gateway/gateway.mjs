import { fileURLToPath } from 'node:url';
import { createGateway, createServer } from 'mcp-parley';
import { serveFlows } from 'mcp-parley/flow';
import { book } from './book.mjs';

const trips = createServer({ name: 'trips', version: '1.0.0' });
serveFlows(trips, [book], { tools: () => gateway }); // steps call tools by their names in the gateway

const flights = { command: process.execPath, args: [fileURLToPath(new URL('flights.mjs', import.meta.url))] };
const gateway = createGateway({ servers: { trips, flights } });
const { url } = await gateway.listen({ port: Number(process.env.PORT ?? 8080) });
console.log(url);
