/** Words of a choice stand in capitals in GraphQL and in small letters in the rows. */
export function storedWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storedWords);
  return typeof value === 'string' ? value.toLowerCase() : value;
}
