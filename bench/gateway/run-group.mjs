// One group: all its contenders started, measured in turns, stopped; several times over, because processes of the same program
// differ. Who fails is left out of the rest, and the reason is told.
import { startContender, whyNot } from './contender.mjs';
import { NAMES } from './contenders.mjs';
import { idle, largeResults, sessions, slowCalls, smallCalls, warmUp } from './measure.mjs';
import { Taken } from './taken.mjs';

export async function runGroup(group, { plan, server, names = NAMES }) {
  const absent = {};
  const taken = new Taken();
  for (const name of names) {
    const reason = whyNot(name, group);
    if (reason) absent[name] = reason;
  }
  const present = () => names.filter((name) => !(name in absent));
  const leaveOut = (name, error) => {
    absent[name] = `failed: ${error.message.slice(0, 200)}`;
    console.log(`  ${name} ${absent[name]}`);
  };

  for (let start = 0; start < plan.starts; start += 1) {
    taken.newLife();
    const stop = (contenders) => Promise.all(contenders.map((one) => one.stop()));
    for (const name of present()) await stop(await begin([name], { group, server, taken, leaveOut }));
  }
  for (let life = 0; life < plan.lives; life += 1) {
    taken.newLife();
    const contenders = await begin(present(), { group, server, taken, leaveOut });
    await oneLife(contenders, { group, plan, taken, leaveOut, isLast: life === plan.lives - 1 });
  }
  return { group, taken, absent, names };
}

async function begin(names, { group, server, taken, leaveOut }) {
  const started = [];
  for (const name of names) {
    try {
      const one = await startContender(name, group, server);
      // A server that ran before has no start of its own.
      if (!one.how.url) {
        taken.push(one, 'firstAnswerMs', one.firstAnswerMs);
        taken.push(one, 'firstCallMs', one.firstCallMs);
      }
      started.push(one);
    } catch (error) {
      leaveOut(name, error);
    }
  }
  return started;
}

async function oneLife(started, { group, plan, taken, leaveOut, isLast }) {
  const running = new Set(started);

  /** Everybody once per round, each round starting with another. */
  async function turns(rounds, fits, work) {
    for (let round = 0; round < rounds; round += 1) {
      const now = [...running].filter(fits);
      for (let turn = 0; turn < now.length; turn += 1) await attempt(now[(round + turn) % now.length], work, round);
    }
  }

  async function attempt(one, work, round) {
    try {
      await work(one, round);
    } catch (error) {
      leaveOut(one.name, error);
      running.delete(one);
      await one.stop();
    }
  }

  await idle(started, taken);
  await turns(
    1,
    () => true,
    (one) => warmUp(one, plan),
  );
  await smallCalls(turns, taken, plan);
  await slowCalls(turns, taken, plan);
  await largeResults(turns, taken, plan);
  if (isLast && group.from === 'http' && group.era === 'handshake') await sessions(turns, taken);
  await Promise.all([...running].map((one) => one.stop()));
}
