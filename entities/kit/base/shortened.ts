/** A text for an error message, at most 64 characters of it: repeating a long one could make a huge answer. */
export function shortened(text: string): string {
  return text.length <= 64 ? text : `${text.slice(0, 64).toWellFormed()}…`;
}
