// A gateway before two servers in its own process, or before one on stdio. The arguments say what guards it, and which build it is.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [row, file] = process.argv.slice(2);
const built = file ? pathToFileURL(file) : new URL('../../dist/_entries/index.js', import.meta.url);
const { createAuditLog, createGateway, createServer } = await import(built.href);

/** Twenty rules of which the last one matches. */
const names = Array.from({ length: 19 }, (_, index) => ({
  principal: `key:user${index}`,
  tool: [`desk__write_${index}*`, `other__*_${index}`],
  effect: index % 2 ? 'deny' : 'ask',
}));
const expressions = Array.from({ length: 4 }, (_, index) => ({
  tool: 'desk__*',
  when: `args.amount > ${1000 + index} && args.text.contains("x${index}")`,
  effect: 'deny',
}));
const rules = [...names, { server: 'desk', effect: 'allow' }];
const folder = mkdtempSync(join(tmpdir(), 'guard-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const gateway = createGateway({
  servers: file ? stdioServer() : ownServers(),
  ...((row === 'rules' || row === 'all') && { rules }),
  ...(row === 'when' && { rules: [...expressions, ...rules] }),
  ...((row === 'pins' || row === 'all') && { stateFolder: join(folder, 'state'), pins: 'destructive' }),
  ...((row === 'audit' || row === 'all') && { audit: createAuditLog({ folder }).record }),
});
const { url } = await gateway.listen({ port: 0 });
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpu: user + system });
});
process.on('SIGTERM', () => process.exit());
process.on('disconnect', () => process.exit());
process.send({ url });

function ownServers() {
  const desk = createServer({ name: 'desk', version: '1' });
  desk.tool('echo', {}, ({ text }) => String(text));
  return { desk, other: createServer({ name: 'other', version: '1' }) };
}

function stdioServer() {
  const program = fileURLToPath(new URL('../gateway/server.mjs', import.meta.url));
  return { desk: { command: process.execPath, args: [program, '--stdio'] } };
}
