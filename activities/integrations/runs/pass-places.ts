/** Passes that one process makes at a time: half of the places that the queue has by default, so that messages always find one. */
export const maxPasses = 5;

/** Pause of a pass that found no place, in milliseconds. */
export const placePauseMs = 5_000;

let taken = 0;

/** @returns undefined when all places are taken; else a function that gives the place back */
export function takePassPlace(): (() => void) | undefined {
  if (taken >= maxPasses) return undefined;
  taken += 1;
  return () => {
    taken -= 1;
  };
}
