// Imported by every server under measurement: answers the bench's questions over the IPC channel, so that stdio and
// HTTP stay the server's own. What the channel costs is one message per batch, outside the calls that are counted.

// Not being able to start is told in one line; what goes wrong later ends the process the usual way, with its stack.
process.once('uncaughtException', failed);

function failed(error) {
  process.send({ failed: error.message.split('\n', 1)[0] }, () => process.exit(1));
}

/** Tells the bench that calls can come, and where to. */
export function ready(url) {
  process.off('uncaughtException', failed);
  process.send({ ready: true, url });
}

let profiler;

const answers = {
  /** User and system time of all threads so far, in µs: garbage collection is part of what a call costs. */
  usage() {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    return { cpu: userCPUTime + systemCPUTime, maxRSS };
  },
  /** Profiles start after the warm-up; `node --cpu-prof` would mix start-up and compilation in. */
  async 'profile-start'() {
    const { Session } = await import('node:inspector/promises');
    profiler = new Session();
    profiler.connect();
    await profiler.post('Profiler.enable');
    await profiler.post('Profiler.setSamplingInterval', { interval: 200 });
    await profiler.post('Profiler.start');
  },
  async 'profile-stop'() {
    const { profile } = await profiler.post('Profiler.stop');
    return profile;
  },
};

process.on('message', async ({ ask }) => process.send({ ask, answer: await answers[ask]() }));
// The bench is gone or done: nobody is left to answer.
process.on('disconnect', () => process.exit());
