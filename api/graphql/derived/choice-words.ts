/** Values of enums are upper case in GraphQL and lower case in the database. */
export function storedWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storedWords);
  return typeof value === 'string' ? value.toLowerCase() : value;
}
