// Runs jobs concurrently, up to a limit. Resolves with their results in the order of the jobs.
export async function inLanes(count, jobs) {
  const results = [];
  const next = [...jobs.entries()].values();
  const lane = async () => {
    for (const [index, job] of next) results[index] = await job();
  };
  await Promise.all(Array.from({ length: count }, lane));
  return results;
}
