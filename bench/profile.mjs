// `node bench/profile.mjs [--subject parley] [--transport http] [--era stateless] [--in-flight 64] [--top 30]`: where a
// warm server spends its time under the small call, by function, to make it cheaper.
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { groups } from './cells.mjs';
import { installPeers } from './install.mjs';
import { callOf } from './load/messages.mjs';
import { selfTimes } from './report/self-times.mjs';
import { startSubject } from './subject.mjs';

const WARM_UP_MS = 3000;
const PROFILED_MS = 4000;

const { values: options } = parseArgs({
  options: {
    subject: { type: 'string', default: 'parley' },
    transport: { type: 'string' },
    era: { type: 'string' },
    size: { type: 'string', default: 'small' },
    'in-flight': { type: 'string' },
    top: { type: 'string', default: '30' },
  },
});

installPeers();
for (const group of groups([options.size])) {
  if (group.transport !== (options.transport ?? group.transport) || group.era !== (options.era ?? group.era)) continue;
  const inFlight = Number(options['in-flight'] ?? group.cells.at(-1).inFlight);
  const { profile, calls } = await profileOf(group, inFlight);
  console.log(
    `\n${options.subject}, ${group.transport}, ${group.era}, ${options.size}, ${inFlight} in flight, ${calls} calls`,
  );
  console.log(selfTimes(profile, calls, Number(options.top)));
  keep(`${options.subject}-${group.transport}-${group.era}-${options.size}-${inFlight}`, profile);
}

async function profileOf(group, inFlight) {
  const subject = await startSubject(options.subject, group);
  const call = callOf(options.size, group.era);
  await subject.check(call);
  await subject.load(call, { inFlight, ms: WARM_UP_MS });
  await subject.ask('profile-start');
  const { latencies } = await subject.load(call, { inFlight, ms: PROFILED_MS });
  const profile = await subject.ask('profile-stop');
  await subject.stop();
  return { profile, calls: latencies.length };
}

/** For a flame graph in any viewer of .cpuprofile files. */
function keep(name, profile) {
  const folder = new URL('results/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${name}.cpuprofile`, folder), JSON.stringify(profile));
}
