/** Number of single-character edits (insert, delete, replace, swap of neighbours) between two texts. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (before[j - 2] ?? 0) + 1);
      current.push(best);
    }
    before = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/**
 * The known name that is most similar to a wrong one, ignoring case. Undefined when no name is similar enough, that is, when
 * more than a part of the characters differ.
 * @param part 3 for a third of them
 */
export function didYouMean(wrong: string, known: Iterable<string>, part = 3): string | undefined {
  const wanted = wrong.slice(0, 100).toLowerCase();
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const name of known) {
    const limit = Math.max(1, Math.floor(Math.max(wanted.length, name.length) / part));
    if (Math.abs(wanted.length - name.length) > limit) continue;
    const edits = distance(wanted, name.toLowerCase());
    if (edits <= limit && edits < bestDistance) [best, bestDistance] = [name, edits];
  }
  return best;
}
