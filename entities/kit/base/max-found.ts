/**
 * Most records of an organization that a search finds by words, and by a part of the text. They are ranked afterwards, and then it is
 * decided which of them the caller may view.
 */
export const maxFound = 5_000;
