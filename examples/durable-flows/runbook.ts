// What to do in an incident: tell people, repair one service after the other, wait for the monitoring's all-clear, and say that it is over.
// Several take part: the caller answers, the head of operations approves, the monitoring reports, and what nobody answers in time is decided here.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flow } from 'mcp-parley/flow';
import type { Ask, FileRef, RetryPolicy, Span, StepContext } from 'mcp-parley/flow';
import { takeBack, tell } from './company.ts';

const SERVICES = ['api', 'checkout', 'search'] as const;
type Service = (typeof SERVICES)[number];

/** How long a question waits that can be decided without an answer. */
const PATIENCE = { minor: '30m', major: '5m', drill: '250ms' } satisfies Record<string, Span>;
const SEVERITIES = ['minor', 'major', 'drill'] as const;

/** As `identify` knows them. */
const HEAD = 'head-of-operations';
const LOG_BYTES = 1_000_000;

const AllClear = {
  type: 'object',
  properties: { errorsPerMinute: { type: 'number' } },
  required: ['errorsPerMinute'],
};

const retry: RetryPolicy = { attempts: 8, pause: '50ms', maxPause: '5s', on: ['BusyError'] };

export const runbook = flow(
  {
    name: 'handle_incident',
    description: 'Handle an incident, from the first page to the all-clear',
    version: '1',
    long: true,
    timeout: '4h',
    limits: { duration: '2d' }, // the all-clear may come tomorrow
  },
  async (ask) => {
    const incident = await ask.text('incident', {
      message: 'What is its name?',
      pattern: /^[a-z][a-z0-9-]*$/,
      max: 40,
    });
    const severity = await ask.choice('severity', SEVERITIES, { message: 'How bad is it?' });
    const services = await ask.choices('services', SERVICES, { message: 'Which services are affected?', min: 1 });
    const patience = PATIENCE[severity];
    const by = await ask.choice('by', ['chat', 'phone'], {
      message: `Page by chat or by phone? In ${patience} it is by phone.`,
      timeout: patience,
      onTimeout: 'default',
      default: 'phone',
    });

    // Both at once: neither waits for the other.
    await Promise.all([
      ask.step('page', (step) => tell(step, 'page', incident, by), { effect: 'retry', retry }),
      ask.step('post', (step) => tell(step, 'status', incident, 'investigating'), {
        effect: 'retry',
        retry,
        undo: (_, step) => takeBack(step, 'status', incident, 'withdrawn'),
      }),
    ]);
    const log = await ask.file('log', { message: 'A log of it?', accept: ['.log'], maxBytes: LOG_BYTES });
    // The same name and the same bytes, however often it is written.
    const evidence = await ask.step('keep', (step) => keep(step, incident, log), { effect: 'retry' });

    const done: Partial<Record<Service, string>> = {};
    for (const [index, service] of services.entries()) {
      ask.progress(index, services.length, service);
      done[service] = await repair(ask.scope(service), service, incident);
    }

    const allClear = ask.event('all-clear', AllClear);
    await ask.step('watch', async (step) => tell(step, 'watch', incident, await step.url(allClear)), {
      effect: 'retry',
      retry,
    });
    await allClear;

    const words = await Promise.race([
      ask.text('words', { message: `What do we tell customers? In ${patience} we say that it is over.`, max: 200 }),
      ask.sleep('patience', patience), // a question that has lost is withdrawn
    ]);
    const said = await ask.step('close', (step) => tell(step, 'status', incident, words ?? 'It is over'), {
      effect: 'retry',
      retry,
    });
    return { incident, severity, done, evidence, said };
  },
);

/** All of it is asked about this one service: `about` puts its name before every key. */
async function repair(about: Ask, service: Service, incident: string): Promise<string> {
  const impact = await about.choice('impact', ['fine', 'slow', 'down'], { message: `How is ${service}?` });
  if (impact === 'fine') return 'left alone';
  if (impact === 'down' && (await isApproved(about, service, incident))) {
    const token = await about.text('token', { message: `The token to fail ${service} over?`, secret: true });
    await about.step(
      'fail-over',
      async (step) => tell(step, `fail over ${service}`, incident, 'standby', await step.reveal(token)),
      { effect: 'retry', retry },
    );
    return 'failed over';
  }
  await about.step('restart', (step) => tell(step, `restart ${service}`, incident, 'now'), { effect: 'retry', retry });
  return 'restarted';
}

/** Nobody but the head of operations can say so, the caller least of all. */
function isApproved(about: Ask, service: Service, incident: string): Promise<boolean> {
  const message = `Fail ${service} over to its standby (${incident})? Otherwise it is restarted.`;
  return about.person(HEAD, { remind: '10m' }).confirm('approve', { message, by: 'human' });
}

async function keep(step: StepContext, incident: string, log: FileRef): Promise<string> {
  const reports = process.env['REPORTS'] ?? 'reports';
  const name = `${incident}-${step.idempotencyKey}.log`;
  await mkdir(reports, { recursive: true });
  await writeFile(join(reports, name), await step.bytes(log));
  return name;
}
