/**
 * Keyword with what the description of the API adds to the schema with which a value is validated: limits whose refusal has words of its
 * own elsewhere, such as those of an id, or as `shared` the name of a list of words that follows from the kinds.
 */
export const describedKeyword = 'x-described';
