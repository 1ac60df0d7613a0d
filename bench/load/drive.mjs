// A closed loop: so many calls in flight, each lane sends its next when its last is answered, for so long.
const FEWEST_CALLS = 30;
const STALLS_AFTER_MS = 10_000;

/** Resolves with the latency of every call in ms and the time they took together. */
export function drive(client, call, { inFlight, ms, fewest = FEWEST_CALLS }) {
  return new Promise((resolve, reject) => {
    const latencies = [];
    const began = performance.now();
    let lanes = inFlight;
    let seen = 0;
    const watch = setInterval(() => {
      if (latencies.length === seen) settle(reject, new Error(`no more answers after ${seen}`));
      seen = latencies.length;
    }, STALLS_AFTER_MS);

    function settle(how, value) {
      clearInterval(watch);
      how(value);
    }

    function next(lane) {
      const sent = performance.now();
      if (sent - began > ms && latencies.length >= fewest) {
        lanes -= 1;
        if (lanes === 0) settle(resolve, { latencies, ms: sent - began });
        return;
      }
      client.send(lane, call, (error) => {
        if (error) return settle(reject, error);
        latencies.push(performance.now() - sent);
        next(lane);
      });
    }

    for (let lane = 0; lane < inFlight; lane += 1) next(lane);
  });
}
