// A closed loop: so many calls in flight, each lane sends its next when its last is answered, for so long.
const FEWEST_CALLS = 30;
const ANSWERS_WITHIN_MS = 10_000;

/** Resolves with the latency of every call in ms and the time they took together. */
export function drive(client, call, { inFlight, ms }) {
  return new Promise((resolve, reject) => {
    const latencies = [];
    const began = performance.now();
    let lanes = inFlight;
    const stalled = setTimeout(
      () => settle(reject, new Error(`calls without an answer, ${latencies.length} with one`)),
      ms + ANSWERS_WITHIN_MS,
    );

    function settle(how, value) {
      clearTimeout(stalled);
      how(value);
    }

    function next(lane) {
      const sent = performance.now();
      if (sent - began > ms && latencies.length >= FEWEST_CALLS) {
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
