// Runs one cell: opens the server and the client, exercises the features, closes both, and checks the messages of our side.
import { checkRecords, describeViolation } from '../../schemas/check-records.mjs';
import { createAnswers } from '../clients/answers.mjs';
import { openServer } from '../servers/open.mjs';
import { featuresOf } from './applicable.mjs';
import { Seen, within } from './seen.mjs';

const CELL_MS = 40_000;
const FEATURE_MS = 12_000;

const CLIENTS = {
  parley: async (options) => (await import('../clients/parley.mjs')).openParleyClient(options),
  v1: async (options) => (await import('../clients/v1.mjs')).openV1Client(options),
  v2: async (options) => (await import('../clients/v2.mjs')).openV2Client(options),
};

/** `{ passed, failures: [text], skipped: [{ feature, reason }], checked, excused, ms }` */
export async function playCell(cell) {
  const report = { failures: [], skipped: [], played: [], checked: 0, excused: {} };
  const started = Date.now();
  try {
    await within('the cell', CELL_MS, playFeatures(cell, report));
  } catch (error) {
    report.failures.push(error.message);
  }
  return { ...report, passed: report.failures.length === 0, ms: Date.now() - started };
}

async function playFeatures(cell, report) {
  const server = await openServer({ ...cell, kind: cell.server });
  const context = { cell, server, seen: new Seen(), answers: createAnswers() };
  try {
    context.client = await within('connect', FEATURE_MS, openClient(context));
    for (const { feature, lacking } of featuresOf(cell)) {
      if (lacking) report.skipped.push({ feature: feature.name, reason: lacking });
      else await playFeature(feature, context, report);
    }
    await within('close', FEATURE_MS, context.client.close());
    report.played.push('close');
  } finally {
    checkSaid(cell, await within('the end of the server', FEATURE_MS, server.close()), report);
  }
}

function openClient({ cell, server, seen, answers }) {
  const { client, transport, pin, mode } = cell;
  return CLIENTS[client]({ way: server.way, transport, revision: pin, mode, seen, answers });
}

async function playFeature({ name, run }, context, report) {
  try {
    await within(name, FEATURE_MS, run(context));
    report.played.push(name);
  } catch (error) {
    report.failures.push(`${name}: ${error.message.split('\n').slice(0, 12).join('\n      ')}`);
  }
}

function checkSaid({ client, server, revision }, records, report) {
  const ours = client === 'parley' ? (server === 'parley' ? 'both' : 'client') : 'server';
  judge(checkRecords(records, { ours, fallback: revision }), report);
}

/** What violates the schemas fails the cell, and so does silence: then the recording is broken. */
export function judge({ checked, violations, excused, output = '' }, report) {
  Object.assign(report, { checked, excused });
  for (const violation of violations.slice(0, 5)) report.failures.push(`schema: ${describeViolation(violation)}`);
  if (violations.length > 5) report.failures.push(`schema: ${violations.length - 5} more`);
  if (checked === 0) report.failures.push(`nothing of what our side said was recorded\n${output}`.trimEnd());
}
