// The program of the watchdog's thread, as text: a thread needs a file of its own otherwise, which bundles and single executables lack. It is
// plain CommonJS. It sleeps while no body runs, looks twenty times a second while bodies do, and connects Node's debugger to the main thread
// when one has been in the same window for too long: to see its line, and to end it.

export const WATCHDOG_CODE = `
const { workerData } = require('node:worker_threads');
const { Session } = require('node:inspector');
const { cells, reports, limitMs, own } = workerData;
const [OPEN, ENDED, AWAKE, MODE] = [0, 1, 2, 3];
const [IGNORE, REPORT, END] = [0, 1, 2];
const LOOK_MS = 50;
const IDLE_MS = 5000;
const SECOND_LOOK_MS = 30;
const MAX_PAUSES = 50;
const HOLD = 'globalThis[Symbol.for("parley.watchdog")]()';
let stopped = 0;
let [window, since, cpu, lastLook, idleSince] = [0, 0, 0, Date.now(), Date.now()];

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function look() {
  const now = Date.now();
  const open = Atomics.load(cells, OPEN);
  // A machine that slept, or that has no time for this thread, has none for the body either.
  const wasAway = now - lastLook > LOOK_MS * 8;
  lastLook = now;
  if (open !== 0) idleSince = now;
  if (open === 0 || open !== window || wasAway) {
    [window, since, cpu] = [open, now, cpuMs()];
    return now - idleSince > IDLE_MS ? sleep() : later();
  }
  const mode = Atomics.load(cells, MODE);
  // On a busy machine the time may have gone to others: what counts is what the process has worked.
  if (mode === IGNORE || now - since < limitMs - LOOK_MS || cpuMs() - cpu < limitMs - LOOK_MS) return later();
  catchBody(open, mode);
}

function later() {
  setTimeout(look, LOOK_MS);
}

function sleep() {
  Atomics.store(cells, AWAKE, 0);
  if (Atomics.load(cells, OPEN) === 0) Atomics.wait(cells, AWAKE, 0);
  Atomics.store(cells, AWAKE, 1);
  idleSince = lastLook = Date.now();
  later();
}

/** Pauses the main thread until one of the author's frames is seen: between two microtasks there is none. */
function catchBody(open, mode) {
  const session = new Session();
  const urls = new Map();
  let pauses = 0;
  // A session does not keep its thread alive.
  const alive = setInterval(() => {}, 1000);
  session.connectToMainThread();
  const leave = () => {
    session.post('Debugger.disable', () => {
      session.disconnect();
      clearInterval(alive);
      setTimeout(look, SECOND_LOOK_MS);
    });
  };
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  session.on('Debugger.paused', ({ params }) => {
    if (Atomics.load(cells, OPEN) !== open) return session.post('Debugger.resume', leave); // it has let go
    const frames = params.callFrames.map((frame) => toFrame(frame, urls));
    if (!frames.some(isAuthors) && ++pauses < MAX_PAUSES) {
      return session.post('Debugger.stepInto');
    }
    if (mode === REPORT) {
      const where = frames.find(isAuthors);
      const line = { time: new Date().toISOString(), level: 'error', event: 'flow.endless', where };
      require('node:fs').writeSync(2, JSON.stringify(line) + '\\n');
      return session.post('Debugger.resume', leave);
    }
    if (stopped !== open) {
      // First the gentle way: nothing that it awaits ever settles. A loop without promises goes on, and is ended at the next look.
      stopped = open;
      reports.postMessage(frames);
      return session.post('Runtime.evaluate', { expression: HOLD }, () => session.post('Debugger.resume', leave));
    }
    session.post('Runtime.evaluate', { expression: HOLD }, () => {
      Atomics.store(cells, ENDED, open);
      session.post('Runtime.terminateExecution');
      session.post('Debugger.resume', leave);
    });
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
}

function toFrame({ functionName, location, url }, urls) {
  const place = (urls.get(location.scriptId) || url) + ':' + (location.lineNumber + 1) + ':' + (location.columnNumber + 1);
  return '    at ' + (functionName === '' ? place : functionName + ' (' + place + ')');
}

function isAuthors(frame) {
  const place = frame.slice(frame.lastIndexOf('(') + 1).replace('    at ', '');
  if (place.startsWith(':') || place.startsWith('node:')) return false;
  return !own.some((folder) => place.startsWith(folder)) || /\\.test\\.[jt]s:/.test(place);
}

later();
`;
