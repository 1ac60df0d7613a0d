// The order in which messages reached this process. A message that is handled late, for example after a login was checked, keeps the number
// of its arrival, so that it is judged by what its sender knew then.

let count = 0;

export function nextArrival(): number {
  return ++count;
}
