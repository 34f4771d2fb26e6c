/** How the values of a choice are written: as they are stored, or in capitals, which is the default. */
export type ChoiceWords = 'stored' | 'capitals';
