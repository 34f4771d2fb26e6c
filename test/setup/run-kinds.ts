/** The kinds that `TEST_KINDS` names, with commas between them; none when it names none. */
export function runKinds(given = process.env['TEST_KINDS'] ?? ''): string[] {
  return given.split(',').filter((kind) => kind !== '');
}
